"""The parameters of a restoration: preset, constraint, numbers, bases."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QRadioButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from dictsel_core import RestoreSettings
from dictsel_core.atoms import STANDARD_BASES
from dictsel_core.restoration import CONSTRAINTS, MAX_PATCHES
from inpaint_app.text import (
    CONSTRAINT_EXPLANATIONS,
    FILL_EXPLANATIONS,
    PRESET_EXPLANATIONS,
    constraint_title,
    preset_title,
)
from inpaint_app.window.document.captions import preset_of
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.fields import (
    ChoiceBox,
    aligned,
    check,
    choice,
    described,
    fill,
    in_pairs,
    labeled,
    tooltip,
)
from inpaint_app.window.widgets.sliders import Quantity, SliderField

_DEFAULTS = RestoreSettings()


def _quantity(name: str, label: str, tooltip: str, **options: Any) -> Quantity:
    """Return a setting as a quantity with the limits of its parameter."""
    parameter = RestoreSettings.parameters[name]
    least = 10.0 ** -options.get("decimals", 0) if parameter.excludes_minimum else 0
    return Quantity(
        label=label,
        minimum=parameter.minimum + least,
        maximum=parameter.maximum,
        default=getattr(_DEFAULTS, name),
        can_be_automatic=parameter.is_optional,
        tooltip=tooltip,
        **options,
    )


_QUANTITIES = {
    "n_atoms": _quantity(
        "n_atoms",
        "Dictionary size &k",
        "Number of atoms to select: few are best where little is observed, many bring back texture "
        "where much is.",
    ),
    "sparsity": _quantity(
        "sparsity",
        "Sparsity &s",
        "Maximum number of atoms per patch in the selection: more follow detail, fewer suppress noise.",
        usual=(1, 24),
    ),
    "mean_sparsity": _quantity(
        "mean_sparsity",
        "Budget s', &average per patch",
        "Average number of atoms per patch; all patches share them, so plain ones leave more to busy ones.",
        usual=(0.5, 16),
        step=0.5,
        decimals=1,
    ),
    "coding_sparsity": _quantity(
        "coding_sparsity",
        "Atoms per patch &when coding",
        "Maximum number of atoms per patch in the coding: more are sharper, fewer are smoother.",
        usual=(1, 24),
    ),
    "rounds": _quantity(
        "rounds",
        "Ro&unds of refinement",
        "Rounds of refinement by similar patches after the coding: more are better and slower; 0 skips "
        "refinement, auto makes eight.",
        usual=(0, 12),
    ),
}
_BASES = {
    "dct": ("Cosines", "Smooth waves; good for gradients and soft texture."),
    "haar": ("Haar", "Steps and blocks; good for hard edges."),
    "db4": ("Daubechies 4", "Smooth short waves; good for fine texture."),
    "coif1": ("Coiflets", "Nearly symmetric short waves; good for lines."),
}
_CUSTOM = "Custom"


def _explained(name: str, explanations: dict[str, str], tip: str) -> ChoiceBox:
    """Return a choice of which each entry has a tip of its own."""
    box = choice(name, {preset_title(each): each for each in explanations}, tip=tip)
    for place, text in enumerate(explanations.values()):
        box.setItemData(place, tooltip(text), Qt.ItemDataRole.ToolTipRole)
    return box


class ParameterPanel(QWidget):
    """Shows the settings of a session and asks for others."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._presets = _explained("Preset", PRESET_EXPLANATIONS, "Sets all parameters at once.")
        self._presets.addItem(_CUSTOM, None)
        tip = "How to fill holes that are too wide to be restored from their border."
        self.fills = _explained("Fill wide holes", FILL_EXPLANATIONS, tip)  #: How wide holes are filled.
        tip = "These were changed; go back to what every picture begins with."
        self._reset = described(QToolButton(), "", tip)
        self._reset.setText("Reset")
        self._constraints = QButtonGroup(self)
        self._fields = {name: SliderField(quantity) for name, quantity in _QUANTITIES.items()}
        self._bases = {name: check(*_BASES[name]) for name in STANDARD_BASES}
        tip = "Restore missing pixels only; otherwise every pixel is replaced by its estimate."
        self._keep = check("Keep observed pixels", tip)
        tip = "Select and code to the letter of the paper of 2018: slower, and usually a little worse."
        self._literal = check("As published", tip)
        tip = "Restore the whole picture after every change, instead of a preview."
        self._automatic = check("Restore after every change", tip)
        self._advanced, self._advanced_button = QWidget(), QToolButton()
        self._advanced_button.setText("Advanced")
        self._advanced_button.setCheckable(True)
        self._advanced_button.setAutoRaise(True)
        self._advanced_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._advanced_button.setToolTip("Show the parameters of the method: k, s, s' and rounds.")
        self._lay_out()
        self.show_advanced(False)
        self._connect()
        self._show()

    def _lay_out(self) -> None:
        constraints = QHBoxLayout()
        for number, name in enumerate(CONSTRAINTS):
            button = described(QRadioButton(constraint_title(name)), "", CONSTRAINT_EXPLANATIONS[name])
            self._constraints.addButton(button, number)
            constraints.addWidget(button, 1)
        bases = in_pairs(*self._bases.values(), spacing=2)
        bases.setContentsMargins(8, 0, 0, 4)
        more = fill(QVBoxLayout(), self._keep, self._literal, self._automatic, spacing=2)
        numbers = *self._fields.values(), QLabel("Bases to select atoms from")
        fill(QVBoxLayout(self._advanced), constraints, *numbers, bases, more, spacing=6)
        preset, wide_holes = aligned(
            labeled("&Preset", self._presets), labeled("Fill wide holes", self.fills)
        )
        first = fill(QHBoxLayout(), (preset, 1), self._reset, spacing=6)
        fill(QVBoxLayout(self), first, wide_holes, self._advanced_button, self._advanced, spacing=8)

    def show_advanced(self, is_shown: bool) -> None:
        """Show or hide the parameters of the method."""
        self._advanced.setVisible(is_shown)
        self._advanced_button.setChecked(is_shown)
        arrow = Qt.ArrowType.DownArrow if is_shown else Qt.ArrowType.RightArrow
        self._advanced_button.setArrowType(arrow)

    def _connect(self) -> None:
        session = self._session
        self._advanced_button.toggled.connect(self.show_advanced)
        session.document.watch(self._show, "settings", "is_automatic", "source", "mask")
        session.document.watch(self._show_total, "runs")
        self._presets.activated.connect(self._choose_preset)
        self._reset.clicked.connect(session.reset_settings)
        self.fills.activated.connect(lambda place: self._ask(fill=self.fills.itemData(place)))
        self._constraints.idClicked.connect(lambda number: self._ask(constraint=CONSTRAINTS[number]))
        for name, field in self._fields.items():
            field.value_changed.connect(lambda value, name=name: self._ask(**{name: value}))
        for box in self._bases.values():
            box.clicked.connect(self._choose_bases)
        self._keep.clicked.connect(lambda checked: self._ask(keep_observed=checked))
        self._literal.clicked.connect(lambda checked: self._ask(literal=checked))
        self._automatic.clicked.connect(session.set_automatic)

    def _ask(self, **changes: object) -> None:
        # Refinement keeps observed pixels: of the two, the last choice wins.
        if changes.get("keep_observed") is False:
            changes["rounds"] = 0
        elif changes.get("rounds", 0) != 0:
            changes["keep_observed"] = True
        self._session.set_settings(replace(self._session.state.settings, **changes))  # type: ignore[arg-type]

    def _choose_preset(self, place: int) -> None:
        name = self._presets.itemData(place)
        if name is None:
            self._show()
        else:
            self._session.set_settings(RestoreSettings.preset(name))

    def _choose_bases(self) -> None:
        chosen = tuple(name for name, box in self._bases.items() if box.isChecked())
        if chosen:
            settings = self._session.state.settings
            most, n_atoms = len(chosen) * settings.patch_size**2, settings.n_atoms
            self._ask(bases=chosen, n_atoms=None if n_atoms is None else min(n_atoms, most))
        else:  # at least one must stay
            self._show()

    def _show(self) -> None:
        settings = self._session.state.settings
        self._presets.setCurrentIndex(self._presets.findData(preset_of(settings)))
        self.fills.setCurrentIndex(self.fills.findData(settings.fill))
        for number, constraint in enumerate(CONSTRAINTS):
            self._constraints.button(number).setChecked(settings.constraint == constraint)
        resolved = self._resolved(settings)
        self._fields["n_atoms"].set_bounds(1, len(settings.bases) * settings.patch_size**2)
        for name, field in self._fields.items():
            value = getattr(settings, name)
            if value is None:
                field.set_automatic(getattr(resolved, name))
            else:
                field.set_value(value)
        self._fields["mean_sparsity"].setEnabled(settings.uses_budget)
        for name, box in self._bases.items():
            box.setChecked(name in settings.bases)
        self._keep.setChecked(settings.keep_observed)
        self._literal.setChecked(settings.literal)
        self._automatic.setChecked(self._session.state.is_automatic)
        self.show_defaults()
        self._show_total()

    def show_defaults(self) -> None:
        """Show whether the parameters are those that a picture begins with."""
        document = self._session.document
        self._reset.setVisible(document.state.settings != document.defaults)

    def _resolved(self, settings: RestoreSettings) -> RestoreSettings:
        missing = self._session.state.missing_fraction
        if not missing:
            return settings
        return settings.resolved(1 - missing, len(settings.bases) * settings.patch_size**2)

    def _show_total(self) -> None:
        """Show how many atoms the budget is in all."""
        state, field = self._session.state, self._fields["mean_sparsity"]
        if state.source is None or not state.settings.uses_budget:
            field.set_note("")
            return
        n_patches = self._n_patches()
        total = round(state.settings.mean_sparsity * n_patches)
        field.set_note(f"s' = {total:,} atoms for {n_patches:,} patches")

    def _n_patches(self) -> int:
        """Return how many patches the dictionary was or will be selected on."""
        state = self._session.state
        current, source = state.runs.current, state.source
        if current is not None and current.restoration.selection is not None:
            return len(current.restoration.selection.supports)
        assert source is not None
        size = state.settings.patch_size
        tiles = -(-source.picture.height // size) * -(-source.picture.width // size)
        return min(tiles * (3 if source.picture.is_color else 1), MAX_PATCHES)
