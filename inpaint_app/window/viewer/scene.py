"""What there is to show, as one value; no Qt."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inpaint_app.engine.dictionary import AtomUse
from inpaint_app.engine.measure import QualityMetrics
from inpaint_app.engine.restore import IntermediateImage, Preview
from inpaint_app.engine.source import Source
from inpaint_app.window.background.activity import Activity
from inpaint_app.window.session.runs.history import RunHistory

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session


@dataclass(frozen=True, eq=False)
class Scene:
    """The state of a session as far as pictures show it; see `Session`, `Runner` and `Results`."""

    source: Source | None = None
    missing_fraction: float = 0.0
    damage_quality: QualityMetrics | None = None
    history: RunHistory = field(default_factory=RunHistory)
    activity: Activity | None = None
    intermediate: IntermediateImage | None = None
    preview: Preview | None = None
    is_previewing: bool = False
    atom_use: AtomUse | None = None

    @classmethod
    def of(cls, session: "Session") -> "Scene":
        """Return the scene of a session as it is now."""
        runner, results = session.runner, session.results
        return cls(
            session.source,
            session.missing_fraction,
            results.damage_quality,
            results.history,
            session.activity,
            runner.intermediate,
            runner.preview,
            runner.is_previewing,
            results.atom_use,
        )
