"""The dictionary of the restoration that is shown: its atoms, and what each of them gained."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dictsel_core import Restoration, Selection
from inpaint_app.engine.export import selection_shares
from inpaint_app.figures import format_origin
from inpaint_app.window.panels.atom_gallery import Atom, AtomGallery
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.fields import fill
from inpaint_app.window.widgets.point_curve import PointCurve

_NAMES = "Gain of each atom", "Objective"
_SIZE = QSize(300, 130)


class DictionaryPanel(QWidget):
    """Shows the atoms of the current record; choosing one highlights the patches that use it."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._shown: Selection | None = None
        self.gallery = AtomGallery()
        #: What each step of the selection gained, over orders of magnitude, and what all have reached.
        self.curves = (
            PointCurve(size=_SIZE, is_logarithmic=True, dot=2, has_line=False),
            PointCurve(size=_SIZE, dot=0),
        )
        fill(
            QVBoxLayout(self), (self.gallery, 5), *((curve, 1) for curve in self.curves), margins=(8, 4, 8, 4)
        )
        self.gallery.atom_chosen.connect(session.measuring.choose_atom)
        for curve, name in zip(self.curves, _NAMES, strict=True):
            curve.setAccessibleName(name)
            curve.point_clicked.connect(session.measuring.choose_atom)
        session.document.watch(self._show, "runs")
        session.document.watch(self._show_chosen, "atom")

    def _show(self) -> None:
        record = self._session.state.runs.current
        restoration = None if record is None else record.restoration
        selection = None if restoration is None else restoration.selection
        if selection is self._shown:  # a healed stroke has the dictionary of the run before
            return
        self._shown = selection
        self.gallery.set_atoms([] if restoration is None else atoms_of(restoration))
        series = ((), ()) if selection is None else (selection.gains.tolist(), selection.objective.tolist())
        for curve, name, values in zip(self.curves, _NAMES, series, strict=True):
            curve.set_points([*enumerate(values, 1)], "atom", name)
            curve.setVisible(bool(values))

    def _show_chosen(self) -> None:
        self.gallery.set_chosen(self._session.state.atom)
        atom = self._session.state.atom
        for curve in self.curves:
            curve.set_marked(None if atom is None else atom + 1)


def atoms_of(restoration: Restoration) -> list[Atom]:
    """Return the atoms of a restoration in the order of selection."""
    selection = restoration.selection
    if selection is None:
        return []
    size, shares = restoration.settings.patch_size, selection_shares(restoration)
    return [
        Atom(
            restoration.dictionary[:, number].reshape(size, size),
            format_origin(origin),
            float(selection.gains[number]),
            float(shares[number]),
        )
        for number, origin in enumerate(restoration.origins)
    ]
