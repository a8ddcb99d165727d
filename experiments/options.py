"""Options of an experiment."""

from dataclasses import dataclass
from pathlib import Path

#: From the scale of the paper down to that of a test.
SCALES = ("full", "quick", "smoke")


@dataclass(frozen=True)
class Options:
    """Scale and data of a run.

    Attributes
    ----------
    scale : {"full", "quick", "smoke"}
    folder : Path
        Folder of the results, with one subfolder per scale.
    images : Path or None
        A folder of photographs; None for those inside scikit-image and scikit-learn.
    trials : int or None
        Number of trials; None for that of the scale.
    method : str or None
        Who makes the dictionary of the "individual" column of the restoration; None for the paper's method.
    """

    scale: str = "full"
    folder: Path = Path("experiments/results")
    images: Path | None = None
    trials: int | None = None
    method: str | None = None

    def at_scale(self, full: int, quick: int, smoke: int) -> int:
        """Return the number for the scale."""
        return {"full": full, "quick": quick, "smoke": smoke}[self.scale]

    def n_trials(self, full: int, quick: int) -> int:
        """Return the number of trials; one in a smoke test."""
        return self.trials or self.at_scale(full, quick, 1)
