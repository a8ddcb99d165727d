"""Long work that the user waits for, as a value."""

from dataclasses import dataclass

from inpaint_app.engine.control import Progress


@dataclass(frozen=True)
class Activity:
    """Long work in progress."""

    kind: str  #: "open", "restore", "tune", "compare", "heal", "detect", "file" or "export".
    progress: Progress  #: How far it is.

    @property
    def can_keep(self) -> bool:
        """Whether stopping leaves a result."""
        return self.kind in ("restore", "compare")
