"""Look for damage of several kinds."""

from collections.abc import Generator, Iterable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from dictsel_core._support.runs import GeneratorRun, stepwise
from dictsel_core.damage_kinds import USUAL_KINDS, DamageKind
from dictsel_core.detection.creases import crease_candidates
from dictsel_core.detection.damage import (
    Candidates,
    DamageAnalysis,
    Detection,
    analyze_one,
    as_sensitivity,
    check_kinds,
)
from dictsel_core.detection.dead_lines import dead_line_candidates
from dictsel_core.detection.dead_pixels import dead_pixel_candidates
from dictsel_core.detection.dust import dust_candidates
from dictsel_core.detection.plane import DetectionImage, prepare
from dictsel_core.detection.regions import Regions
from dictsel_core.detection.scratches import scratch_candidates
from dictsel_core.detection.stamps import stamp_candidates

_CANDIDATES: dict[DamageKind, Candidates] = {
    "scratches": scratch_candidates,
    "dust": dust_candidates,
    "dead_pixels": dead_pixel_candidates,
    "dead_lines": dead_line_candidates,
    "stamps": stamp_candidates,
    "creases": crease_candidates,
}


@dataclass(frozen=True)
class AnalysisStep:
    """The progress of an analysis.

    Attributes
    ----------
    kind : str
        What is being looked for.
    fraction : float
        Fraction of the work for all kinds that is done, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> steps = list(iter_analyze_damage(np.full((64, 64), 120, np.uint8), ["dust"]))
    >>> steps[-1].kind, steps[-1].fraction
    ('dust', 1.0)
    """

    kind: DamageKind
    fraction: float


def analyze_damage(
    image: ArrayLike, kinds: Iterable[DamageKind] = USUAL_KINDS, *, missing: ArrayLike | None = None
) -> DamageAnalysis:
    """Find everything in a picture that may be damage, with a confidence each.

    This is the slow part, which does not depend on a sensitivity.

    Parameters
    ----------
    image : (H, W), (H, W, 1) or (H, W, 3) array_like
        A picture of any integer or float type. Its range is estimated from its values. What a masked array
        hides is missing.
    kinds : iterable of str, optional
        What to look for, from `DAMAGE_KINDS`. Default is `USUAL_KINDS`: scratches and dust.
    missing : (H, W) array_like of bool, optional
        Pixels that are known to be missing, besides those that are not finite. Nothing is found there.

    Returns
    -------
    DamageAnalysis
        Its `mask` takes a sensitivity.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.random.default_rng(0).normal(100, 3, (96, 128))
    >>> image[40, 10:110] += 60
    >>> analysis = analyze_damage(image, ["scratches"])
    >>> bool(analysis.mask(0.5)[40, 20:100].all())
    True
    """
    return iter_analyze_damage(image, kinds, missing=missing).finish()


def _start(
    image: ArrayLike, kinds: Iterable[DamageKind], missing: ArrayLike | None
) -> GeneratorRun[AnalysisStep, DamageAnalysis]:
    return GeneratorRun(_steps(prepare(image, missing), check_kinds(kinds)))


iter_analyze_damage = stepwise(analyze_damage, _start)


def _steps(
    image: DetectionImage, kinds: tuple[DamageKind, ...]
) -> Generator[AnalysisStep, None, DamageAnalysis]:
    candidates: dict[DamageKind, Regions] = {}
    for number, kind in enumerate(kinds):
        run = GeneratorRun(analyze_one(_CANDIDATES[kind], image))
        for fraction in run:
            yield AnalysisStep(kind, (number + fraction) / len(kinds))
        candidates[kind] = run.result
        yield AnalysisStep(kind, (number + 1) / len(kinds))
    return DamageAnalysis(image.shape, candidates)


def detect_damage(
    image: ArrayLike,
    kinds: Iterable[DamageKind] = USUAL_KINDS,
    *,
    sensitivity: float = 0.5,
    missing: ArrayLike | None = None,
) -> Detection:
    """Detect damage of some kinds in a picture.

    Parameters
    ----------
    image : (H, W), (H, W, 1) or (H, W, 3) array_like
        A picture of any integer or float type. Its range is estimated from its values. What a masked array
        hides is missing.
    kinds : iterable of str, optional
        What to look for, from `DAMAGE_KINDS`. Default is `USUAL_KINDS`: scratches and dust.
    sensitivity : float, optional
        From 0, only what is certain, to 1, everything that may be damage. A larger one finds all that a
        smaller one finds. Default is 0.5.
    missing : (H, W) array_like of bool, optional
        Pixels that are known to be missing, besides those that are not finite. Nothing is found there.

    Returns
    -------
    Detection
        With `mask` (True = damaged), `confidence` and `labels`.

    See Also
    --------
    analyze_damage : For several sensitivities of one picture.
    detect_scratches, detect_dust, detect_dead_pixels, detect_dead_lines, detect_stamps, detect_creases :
        One kind.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.full((64, 64), 120, np.uint8)
    >>> image[30:33, 40:43] = 255
    >>> detection = detect_damage(image, ["dust", "scratches"])
    >>> detection.kinds, bool(detection.mask[31, 41])
    (('dust',), True)
    """
    as_sensitivity(sensitivity)
    return analyze_damage(image, kinds, missing=missing).detection(sensitivity)
