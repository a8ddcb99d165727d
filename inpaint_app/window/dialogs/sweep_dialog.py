"""A dialog that draws how good a restoration is over one of its parameters."""

from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from inpaint_app.engine.sweep import MAX_POINTS, SWEPT_NAMES, SweptName
from inpaint_app.window.document.state import DocumentState
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.fields import choice, decimal, described, fill, labeled, number
from inpaint_app.window.widgets.point_curve import PointCurve

#: What the parameters are called, and where to begin.
_WORDS: dict[SweptName, tuple[str, str, float, float]] = {
    "n_atoms": ("Dictionary size k", "k", 8, 128),
    "sparsity": ("Sparsity s", "s", 1, 10),
    "mean_sparsity": ("Budget s'/T, atoms per patch", "s'/T", 1, 8),
    "rounds": ("Rounds of refinement", "rounds", 0, 6),
}
_TITLES = {True: "PSNR of the missing pixels, dB", False: "PSNR of held-out pixels, dB"}


class SweepDialog(QDialog):
    """Asks for a parameter and its range, and shows the curve; a click on it takes the parameter."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Sweep a parameter")
        self._session = session
        names = {words: name for name, (words, *_) in _WORDS.items()}
        self.parameter, self.n_points = choice("Parameter", names), number("Number of values", 2, MAX_POINTS)
        self.first, self.last = decimal("First value"), decimal("Last value")
        self.start, self._note = QPushButton("&Start"), QLabel()
        self.curve = described(PointCurve("{:.2f} dB".format), "Curve of the PSNR")
        self.n_points.setValue(8)
        self._note.setWordWrap(True)
        self._lay_out()
        self._connect()
        self._show_parameter()
        self._show()

    def _lay_out(self) -> None:
        row = fill(
            QHBoxLayout(),
            (labeled("&Parameter", self.parameter), 1),
            labeled("&from", self.first),
            labeled("&to", self.last),
            labeled("&values", self.n_points),
            self.start,
            spacing=10,
        )
        fill(QVBoxLayout(self), row, (self.curve, 1), self._note, margins=None)

    def _connect(self) -> None:
        session = self._session
        self.parameter.currentIndexChanged.connect(lambda _place: self._show_parameter())
        self.start.clicked.connect(self._start)
        self.curve.point_clicked.connect(session.sweeping.take)
        session.document.watch(self._show, "sweep", "settings", "activity", "source")

    @property
    def _name(self) -> SweptName:
        return SWEPT_NAMES[self.parameter.currentIndex()]

    def _start(self) -> None:
        sweeping = self._session.sweeping
        if sweeping.task.is_active:
            sweeping.task.cancel()
        else:
            sweeping.start(self._name, self.first.value(), self.last.value(), self.n_points.value())

    def _show_parameter(self) -> None:
        _, _, first, last = _WORDS[self._name]
        is_mean = self._name == "mean_sparsity"
        for box, value in ((self.first, first), (self.last, last)):
            box.setDecimals(1 if is_mean else 0)
            box.setRange(0 if self._name == "rounds" else 0.5 if is_mean else 1, 500)
            box.setValue(value)

    def _show(self) -> None:
        state, is_active = self._session.state, self._session.sweeping.task.is_active
        self.start.setText("&Cancel" if is_active else "&Start")
        self.start.setEnabled(state.source is not None)
        found = state.sweep
        points = [] if found is None else [(p.value, p.psnr) for p in found.points if p.psnr is not None]
        name = self._name if found is None else found.name
        title = _TITLES[state.has_reference if found is None else found.is_true]
        empty = (
            "Each value is tried, and the PSNR drawn over it."
            if not is_active
            else "The first value is tried …"
        )
        self.curve.set_points(points, _WORDS[name][1], title, empty)
        self.curve.set_marked(getattr(state.settings, name))
        self._note.setText(_note(state))


def _note(state: DocumentState) -> str:
    """Return what was measured, and what a click does."""
    found = state.sweep
    if found is None or state.source is None:
        return (
            "With the original, errors are measured; without it, observed pixels are held out and restored."
        )
    height, width = state.source.shape
    is_whole = found.rect.height * found.rect.width == height * width
    where = "the whole picture" if is_whole else f"{found.rect.width} x {found.rect.height} pixels in sight"
    return f"Tried on {where}. Click a point to use its value; a dashed line is the value in use."
