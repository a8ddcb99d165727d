"""The actions of menus, toolbar and keyboard shortcuts."""

from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence, QPalette
from PySide6.QtWidgets import QWidget

from inpaint_app.window.action_table import MODE_SPECS, OWN_KEYS, SPECS, TOOL_SPECS, ActionSpec, Need
from inpaint_app.window.canvas.tools.registry import TOOLS
from inpaint_app.window.document.view_state import VIEW_MODES
from inpaint_app.window.theme.icons import icon
from inpaint_app.window.widgets.fields import tooltip


class Actions(QObject):
    """The actions of `SPECS` by name, and in `tools` and `modes` those of the registries, by theirs.

    Parameters
    ----------
    parent : QObject
        The window.
    own_keys : mapping of str to str
        Keys that the user has given to some, by name; sentences name them from now on (`key_hint`).
    """

    def __init__(self, parent: QObject, own_keys: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__(parent)
        OWN_KEYS.clear()
        OWN_KEYS.update(own_keys)
        self._made: list[tuple[ActionSpec, QAction]] = []
        self._by_name = {name: self._make(name, spec) for name, spec in SPECS.items()}
        self.tools = {name: self._make(name, TOOL_SPECS[name]) for name in TOOLS}
        self.modes = {name: self._make(f"view {name}", MODE_SPECS[f"view {name}"]) for name in VIEW_MODES}

    def __getitem__(self, name: str) -> QAction:
        """Return an action."""
        return self._by_name[name]

    def connect_to(self, window: QObject) -> None:
        """Let every action of the table run its method of a window, or of one of its parts."""
        for name, spec in SPECS.items():
            run = attrgetter(spec.run)(window)
            given = () if spec.argument is None else (spec.argument,)
            self[name].triggered.connect(
                run if spec.checkable else lambda _on=False, run=run, given=given: run(*given)
            )

    def draw_icons(self, palette: QPalette) -> None:
        """Give the actions icons in the colors of a palette."""
        for spec, action in self._made:
            if spec.icon:
                action.setIcon(icon(spec.icon, palette))

    def enable(self, met: Collection[Need]) -> None:
        """Enable the actions whose needs are met."""
        for spec, action in self._made:
            action.setEnabled(spec.needs == "nothing" or spec.needs in met)

    @property
    def own_keys(self) -> dict[str, str]:
        """The keys that the user has given to actions, by name."""
        return dict(OWN_KEYS)

    def set_key(self, action: QAction, key: str) -> None:
        """Give an action another key; an empty one takes it away."""
        OWN_KEYS[action.objectName()] = key
        self._show_keys(action, [key])

    def reset_keys(self) -> None:
        """Give all actions the keys of the table."""
        OWN_KEYS.clear()
        for spec, action in self._made:
            self._show_keys(action, spec.keys)

    def _make(self, name: str, spec: ActionSpec) -> QAction:
        action = QAction(spec.text, self)
        action.setObjectName(name)
        action.setIconText(spec.text.replace("&", "").rstrip(" …"))  # lists and tooltips name it so
        action.setStatusTip(spec.tip)
        self._show_keys(action, [OWN_KEYS[name]] if name in OWN_KEYS else spec.keys)
        action.setCheckable(spec.checkable)
        if isinstance(window := self.parent(), QWidget):  # keys work where menus and toolbars are hidden
            window.addAction(action)
        self._made.append((spec, action))
        return action

    @staticmethod
    def _show_keys(action: QAction, keys: Sequence[str]) -> None:
        """Let keys trigger an action, and name it and its key in its tooltip."""
        action.setShortcuts([QKeySequence(key) for key in keys if key])
        key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        name, tip = action.iconText(), tooltip(action.statusTip())
        action.setToolTip(f"{name} ({key})\n{tip}" if key else f"{name}\n{tip}")
