"""Look for damage of several kinds."""

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass

from numpy.typing import ArrayLike

from dictsel_core._util.parallel import GeneratorRun, finished, step_by_step
from dictsel_core.damage_kinds import USUAL_KINDS, DamageKind
from dictsel_core.detection.damage import DamageAnalysis, Detection, as_sensitivity, check_kinds
from dictsel_core.detection.dead import dead_line_candidates, dead_pixel_candidates
from dictsel_core.detection.learned import learned_candidates
from dictsel_core.detection.plane import DetectionImage, prepare
from dictsel_core.detection.regions import Regions, without
from dictsel_core.detection.rims import dilated
from dictsel_core.detection.stamps import stamp_candidates
from dictsel_core.detection.work import Work

#: Looks for one kind, or for several at once.
Candidates = Callable[[DetectionImage], Work[Mapping[DamageKind, Regions]]]


def _one(kind: DamageKind, look: Callable[[DetectionImage], Work[Regions]]) -> Candidates:
    def candidates(image: DetectionImage) -> Work[Mapping[DamageKind, Regions]]:
        return {kind: (yield from look(image))}

    return candidates


_CANDIDATES: dict[DamageKind, Candidates] = {
    "scratches": learned_candidates,
    "dust": learned_candidates,
    "dead_pixels": _one("dead_pixels", dead_pixel_candidates),
    "dead_lines": _one("dead_lines", dead_line_candidates),
    "stamps": _one("stamps", stamp_candidates),
}
#: Pixels this near to missing ones are not judged.
_MARGIN = 2


@dataclass(frozen=True)
class AnalysisStep:
    """The progress of an analysis: what is being looked for, and the fraction of all work that is done."""

    kind: DamageKind
    fraction: float


@finished
def analyze_damage(
    image: ArrayLike, kinds: Iterable[DamageKind] = USUAL_KINDS, *, missing: ArrayLike | None = None
) -> GeneratorRun[AnalysisStep, DamageAnalysis]:
    """Find everything in a picture that may be damage, with a confidence each.

    This is the slow part, which does not depend on a sensitivity: that is taken by the `mask` of the result.
    The parameters are those of `detect_damage`.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.random.default_rng(0).normal(100, 3, (96, 128))
    >>> image[40, 10:110] += 60
    >>> analysis = analyze_damage(image, ["scratches"])
    >>> bool(analysis.mask(0.5)[40, 20:100].all())
    True
    """
    return GeneratorRun(_steps(prepare(image, missing), check_kinds(kinds)))


iter_analyze_damage = step_by_step(
    analyze_damage, GeneratorRun[AnalysisStep, DamageAnalysis], "whose steps show how far it is"
)


def _steps(
    image: DetectionImage, kinds: tuple[DamageKind, ...]
) -> Generator[AnalysisStep, None, DamageAnalysis]:
    found: dict[DamageKind, Regions] = {}
    for number, kind in enumerate(kinds):
        if kind not in found:  # what looks for it may have looked for others too
            run = GeneratorRun(_away_from_missing(_CANDIDATES[kind], image))
            for fraction in run:
                yield AnalysisStep(kind, (number + fraction) / len(kinds))
            found.update(run.result)
        yield AnalysisStep(kind, (number + 1) / len(kinds))
    return DamageAnalysis(image.shape, {kind: found[kind] for kind in kinds})


def _away_from_missing(candidates: Candidates, image: DetectionImage) -> Work[Mapping[DamageKind, Regions]]:
    """Return the candidates by kind, without pixels near to missing ones."""
    found = yield from candidates(image)
    if not image.missing.any():
        return found
    near = dilated(image.missing, _MARGIN)
    return {kind: without(regions, near) for kind, regions in found.items()}


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

    Notes
    -----
    ``scratches`` are cracks, scratches, creases and tears, ``dust`` is dust, specks, hairs and fibres,
    lighter or darker than the picture, found by a network. Thin lines of the picture, such as wires and
    twigs, cannot always be told from scratches, nor stars and small print from dust. Pictures of more than 12
    megapixels are looked at at half their size.

    ``dead_pixels`` are single pixels, or up to four that touch, far from all their neighbors in any channel;
    scaled or compressed, they are specks. ``dead_lines`` are rows and columns, one or two pixels wide, over a
    quarter of the side or more. ``stamps`` are rows or columns of letters of one saturated color; texts of
    the picture, such as signs, are stamps too; there are none in gray pictures.

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
