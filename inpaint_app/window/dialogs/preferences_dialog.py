"""A dialog for what the window remembers, with a form in which actions are given other keys."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QColor, QKeySequence
from PySide6.QtWidgets import (
    QColorDialog,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QKeySequenceEdit,
    QSlider,
    QTabWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.errors import printable_path
from inpaint_app.system import n_cores
from inpaint_app.text import PRESET_EXPLANATIONS, UNITS, preset_title
from inpaint_app.window.canvas.screen_color import SRGB, SYSTEM
from inpaint_app.window.dialogs.file_dialogs import PROFILES, ask_for_file
from inpaint_app.window.document.captions import preset_of
from inpaint_app.window.session import Session
from inpaint_app.window.theme.colors import GRAYS, MARKS, Looks
from inpaint_app.window.theme.theme import Theme
from inpaint_app.window.widgets.fields import (
    buddy,
    button,
    button_box,
    check,
    choice,
    described,
    fill,
    number,
    paragraph,
)
from inpaint_app.window.widgets.keys import key_names
from inpaint_app.window.widgets.labels import SecondaryLabel

Groups = Iterable[tuple[str, list[QAction]]]
"""Titles and actions; those without a name of their own are left out."""


class KeyForm(QWidget):
    """Lists actions with their keys, of which the chosen one can be changed."""

    key_chosen = Signal(QAction, str)
    """An action, and its new key; empty for none."""
    reset_wanted = Signal()
    """All actions are to have the keys that they had at first."""

    def __init__(self, groups: Groups) -> None:
        super().__init__()
        self._list = described(QTreeWidget(), "Actions and their keys")
        self._list.setHeaderLabels(["What", "Key"])
        self._list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._list.header().setStretchLastSection(False)
        self._list.setMinimumHeight(280)
        self._edit, self._words = described(QKeySequenceEdit(), "New key"), paragraph(made=SecondaryLabel)
        self._edit.setMaximumSequenceLength(1)
        self._edit.setClearButtonEnabled(True)
        reset = button("&Reset all keys", "", self.reset_wanted.emit)
        row = fill(QHBoxLayout(), buddy("&Key", self._edit), (self._edit, 1), reset, spacing=8)
        fill(QVBoxLayout(self), (self._list, 1), row, self._words, margins=(12, 12, 12, 12), spacing=8)
        self._actions: list[tuple[QTreeWidgetItem, QAction]] = []
        self._fill(groups)
        self._list.currentItemChanged.connect(self._show)
        self._edit.editingFinished.connect(self._choose)
        self._show()

    def _fill(self, groups: Groups) -> None:
        for title, actions in groups:
            named = [action for action in actions if action.objectName()]
            if named:
                group = QTreeWidgetItem(self._list, [title])
                group.setFlags(Qt.ItemFlag.ItemIsEnabled)
                self._actions += [(QTreeWidgetItem(group, [action.iconText()]), action) for action in named]
        self.refresh()
        self._list.expandAll()

    def refresh(self) -> None:
        """Show the keys as they are now."""
        for item, action in self._actions:
            item.setText(1, ", ".join(key_names(action)))

    @property
    def _chosen(self) -> QAction | None:
        current = self._list.currentItem()
        return next((action for item, action in self._actions if item is current), None)

    def _show(self) -> None:
        action = self._chosen
        self._edit.setEnabled(action is not None)
        self._edit.setKeySequence(QKeySequence() if action is None else action.shortcut())
        self._words.setText("Choose an action, then press its new key." if action is None else "")

    def _choose(self) -> None:
        action, wanted = self._chosen, self._edit.keySequence()
        if action is None or wanted == action.shortcut():
            return
        others = (each for _, each in self._actions if each is not action and wanted in each.shortcuts())
        taken = None if wanted.isEmpty() else next(others, None)
        if taken is not None:
            self._words.setText(f"{taken.iconText()} has this key; give it another one first.")
            self._edit.setKeySequence(action.shortcut())
            return
        self.key_chosen.emit(action, wanted.toString(QKeySequence.SequenceFormat.PortableText))
        self._words.setText("")
        self.refresh()


_OWN = "Your own"


class PreferencesDialog(QDialog):
    """Asks how the window behaves and looks; everything takes effect at once."""

    theme_chosen = Signal(object)
    screen_chosen = Signal(str)
    """With a choice as `screen_profile` takes it; `show_screen` is to follow."""
    looks_chosen = Signal(object)
    preset_chosen = Signal(str)
    """The name of the preset that every picture begins with."""
    cores_chosen = Signal(object)
    """How many cores may be used; None for all."""
    unit_chosen = Signal(str)
    forget_wanted = Signal()
    """The list of recent files is to be cleared."""

    def __init__(
        self,
        session: Session,
        theme: Theme,
        screen: str,
        parent: QWidget | None = None,
        *,
        looks: Looks | None = None,
        unit: str = "px",
        keys: Groups = (),
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Preferences")
        self._session, self._looks = session, looks or Looks()
        tip = "Colors that the screen can show; exported pictures are not changed by it."
        self._screens = choice("Screen profile", tip=tip)
        tip = "Automatic: the first of these colors that stands out from the picture."
        self._marks = choice("Color of marks", tip=tip)
        self.keys = KeyForm(keys)  #: Where actions are given other keys.
        buttons = button_box(self, QDialogButtonBox.StandardButton.Close)
        forget = buttons.addButton("&Forget Recent Files", QDialogButtonBox.ButtonRole.ActionRole)
        forget.clicked.connect(self.forget_wanted)
        tabs = QTabWidget()
        tabs.setAccessibleName("Preferences")
        tabs.addTab(self._general(theme, unit), "General")
        tabs.addTab(self._pictures(), "Pictures and marks")
        tabs.addTab(self.keys, "Keys")
        fill(QVBoxLayout(self), (tabs, 1), buttons, margins=(12, 12, 12, 12), spacing=12)
        self.show_screen(screen)
        self._screens.activated.connect(self._choose_screen)
        self.resize(460, self.sizeHint().height())

    def _general(self, theme: Theme, unit: str) -> QWidget:
        defaults = self._session.document.defaults
        themes = choice("Theme", {each.value.title(): each for each in Theme}, theme)
        themes.activated.connect(lambda place: self.theme_chosen.emit(themes.itemData(place)))
        known = preset_of(defaults)
        names = {preset_title(name): name for name in PRESET_EXPLANATIONS}
        entries = names if known else {**names, _OWN: None}
        tip = "The parameters that every picture begins with."
        presets = choice("Preset of new pictures", entries, known, tip)
        presets.activated.connect(lambda place: self.preset_chosen.emit(presets.itemData(place) or ""))
        names = {_capital(words): name for name, (words, _) in UNITS.items()}
        tip = "In centimeters and inches where the file tells its resolution."
        units = choice("Unit of sizes", names, unit, tip)
        units.activated.connect(lambda place: self.unit_chosen.emit(units.itemData(place)))
        tip = "How many cores a restoration may use; the result does not depend on it."
        cores = number("Cores", 0, n_cores(), tip, least=f"All ({n_cores()})")
        cores.setValue(defaults.threads or 0)
        cores.valueChanged.connect(lambda number: self.cores_chosen.emit(number or None))
        tip = "Restore the whole picture after every change, in place of a preview."
        automatic = check("&Restore after every change", tip)
        automatic.setChecked(self._session.state.is_automatic)
        automatic.clicked.connect(self._session.set_automatic)
        rows = {
            "&Theme": themes,
            "&Preset of new pictures": presets,
            "&Unit of sizes": units,
            "&Cores": cores,
        }
        return _form(rows, automatic)

    def _pictures(self) -> QWidget:
        grays = {"As the theme": None, **{_capital(name): gray for name, gray in GRAYS.items()}}
        gray = choice("Gray around pictures", grays, self._looks.gray)
        gray.activated.connect(lambda place: self._change(gray=gray.itemData(place)))
        self._show_marks()
        self._marks.activated.connect(self._choose_marks)
        opacity = described(QSlider(Qt.Orientation.Horizontal), "Opacity of marks")
        opacity.setRange(10, 100)
        opacity.setValue(self._looks.opacity)
        opacity.valueChanged.connect(lambda value: self._change(opacity=value))
        rows = {
            "&Gray around pictures": gray,
            "Color of &marks": self._marks,
            "&Opacity of marks": opacity,
            "&Screen profile": self._screens,
        }
        return _form(rows)

    def _change(self, **changes: object) -> None:
        self._looks = replace(self._looks, **changes)  # type: ignore[arg-type]
        self.looks_chosen.emit(self._looks)

    def _show_marks(self) -> None:
        known = {"automatic": "", **MARKS}
        if self._looks.marks not in known.values():
            known[self._looks.marks] = self._looks.marks
        self._marks.clear()
        for name, color in known.items():
            self._marks.addItem(_capital(name), color)
        self._marks.addItem("Another …", None)
        self._marks.setCurrentIndex(self._marks.findData(self._looks.marks))

    def _choose_marks(self, place: int) -> None:
        color = self._marks.itemData(place)
        if color is None:
            chosen = QColorDialog.getColor(
                QColor(self._looks.marks or MARKS["magenta"]), self, "Color of marks"
            )
            color = chosen.name() if chosen.isValid() else self._looks.marks
        self._change(marks=color)
        self._show_marks()

    def show_screen(self, choice: str) -> None:
        """Show which profile is used."""
        self._screens.clear()
        self._screens.addItem("Of the system", SYSTEM)
        self._screens.addItem("sRGB", SRGB)
        if choice not in (SYSTEM, SRGB):
            self._screens.addItem(printable_path(Path(choice).name), choice)
        self._screens.addItem("ICC file …", "")
        self._screens.setCurrentIndex(self._screens.findData(choice))
        self._screen = choice

    def _choose_screen(self, place: int) -> None:
        chosen = self._screens.itemData(place) or ask_for_file(self, "Profile of the screen", "", PROFILES)
        choice = str(chosen or self._screen)
        self.show_screen(self._screen)
        self.screen_chosen.emit(choice)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _form(rows: Mapping[str, QWidget], *more: QWidget) -> QWidget:
    page = QWidget()
    form = QFormLayout(page)
    form.setContentsMargins(12, 12, 12, 12)
    form.setVerticalSpacing(12)
    form.setHorizontalSpacing(16)
    for label, field in rows.items():
        form.addRow(label, field)
    for widget in more:
        form.addRow(widget)
    return page
