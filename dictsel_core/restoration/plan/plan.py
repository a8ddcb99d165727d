"""The plan of a restoration: everything that depends on the whole image, and the stages that remain."""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from dictsel_core._version import __version__
from dictsel_core.restoration.plan.channel_stage import ChannelStage
from dictsel_core.restoration.plan.coding_stages import pyramid_stages
from dictsel_core.restoration.plan.facts import PlanFacts
from dictsel_core.restoration.plan.final_stages import OUTPUT, RenderStage, RoundStage
from dictsel_core.restoration.plan.regions import ImageSpec
from dictsel_core.restoration.plan.repeats import NOT_REPEATED, RepeatStage
from dictsel_core.restoration.plan.scales import Pyramid, PyramidSource
from dictsel_core.restoration.plan.stage import PlanesReader, PlanStage
from dictsel_core.restoration.plan.texture_stages import texture_stages
from dictsel_core.restoration.settings import ResolvedSettings
from dictsel_core.restoration.value_range import ValueRange

#: Version of the JSON.
_FORMAT = 2


@dataclass(frozen=True, eq=False)
class RestorePlan(PlanFacts):
    """What is left to do for a restoration once the whole image has been looked at, block by block.

    Made by `DetailSurvey.plan`. Its stages are functions of a block and a margin around it, so that blocks
    can be computed anywhere and in any order. Together they are what `restore` returns, bit for bit on the
    same type of processor: it goes through the same stages, with the whole image as a single block.

    Attributes
    ----------
    spec : ImageSpec
    settings : ResolvedSettings
        Nothing is left open; `rounds` has a value too.
    ranges : tuple of ValueRange
        Of the observed values, one for each channel.
    shares_mask : bool
        Whether all channels miss the same pixels.
    observed_channels : tuple of bool
        Whether anything is observed of each channel.
    missing_fraction : float
    holes : tuple of (top, left, bottom, right)
        Wide holes that are completed by example.
    damage_density : float
        Mean fraction of missing pixels around a missing one.
    atoms : (d, k) ndarray
        The dictionary.
    pyramids : tuple of Pyramid
        How scales are restored.
    repeats : ((int, int), (int, int))
        How often rows and columns are repeated in an enlarged image, once if it is not, and where the first
        repetition begins.

    Examples
    --------
    A small image in blocks of 64 x 64 pixels, each with what it needs around it:

    >>> import numpy as np
    >>> from dictsel_core import ImageSpec, PictureSurvey, restore
    >>> image = np.add.outer(np.arange(96), np.arange(96)).astype(np.uint8)[:, :, None]
    >>> mask = np.random.default_rng(0).random((96, 96, 1)) < 0.5
    >>> arrays = {"image": image, "mask": mask}
    >>> def read(reads):
    ...     return [arrays[each.array][each.rows, each.columns] for each in reads]
    >>> def blocks(height, width):
    ...     starts = [(i, j) for i in range(0, height, 64) for j in range(0, width, 64)]
    ...     return [(slice(i, min(i + 64, height)), slice(j, min(j + 64, width))) for i, j in starts]

    Two looks at all blocks make the plan:

    >>> survey = PictureSurvey(ImageSpec(96, 96), "fast")
    >>> looks = [survey.measure(read(survey.reads(*block)), *block) for block in blocks(96, 96)]
    >>> details = survey.details(sum(looks[1:], looks[0]))
    >>> looks = [details.measure(read(details.reads(*block)), *block) for block in blocks(96, 96)]
    >>> plan = details.plan(sum(looks[1:], looks[0]))

    Its stages write arrays, block by block:

    >>> for stage in plan.stages:
    ...     for each in stage.writes:
    ...         arrays[each.name] = np.empty(each.shape, each.dtype)
    ...     for block in blocks(*stage.shape):
    ...         results = stage.apply(read(stage.reads(*block)), *block)
    ...         for each, result in zip(stage.writes, results):
    ...             arrays[each.name][block] = result
    >>> bool((arrays[plan.output] == restore(image, mask, "fast").image).all())
    True
    """

    @property
    def output(self) -> str:
        """Name of the array that holds the restored image."""
        return OUTPUT

    @cached_property
    def stages(self) -> tuple[PlanStage, ...]:
        """All stages in their order: each reads the image, its mask, and what those before it wrote."""
        if self.nothing_missing:
            return (RenderStage.of(self, PlanesReader(())),)
        stages, reader = self._first_estimate()
        if self.holes:
            stages += texture_stages(self, reader)
            reader = PlanesReader((stages[-1].writes[0].name,))
        for number in range(self.n_rounds):
            stage = RoundStage.of(self, reader, number)
            stages.append(stage)
            reader = PlanesReader((stage.writes[0].name,))
        if self.settings.keep_observed and self.repeats != (NOT_REPEATED, NOT_REPEATED):
            stages.append(RepeatStage.of(self, reader))
            reader = PlanesReader((stages[-1].writes[0].name,))
        return (*stages, RenderStage.of(self, reader))

    def _first_estimate(self) -> tuple[list[PlanStage], PlanesReader]:
        """Return the stages before completion and refinement, and what reads their result."""
        stages: list[PlanStage] = []
        own = [each for each in self.pyramids if each.source.other is None]
        for pyramid in sorted(own, key=lambda each: each.source.channels):
            stages += pyramid_stages(self, pyramid)
        if self.shares_mask:
            return stages, PlanesReader((own[0].source.array(0),))
        names = []
        for channel in range(self.spec.n_channels):
            mine = [each for each in self.pyramids if each.source.channels == (channel,)]
            differences = [each for each in mine if each.source.other is not None]
            for pyramid in differences:
                stages += pyramid_stages(self, pyramid)
            source = next(each.source for each in mine if each.source.other is None)
            stages.append(ChannelStage.of(self, channel, source, tuple(each.source for each in differences)))
            names.append(stages[-1].writes[0].name)
        return stages, PlanesReader(tuple(names))

    def released_after(self, stage: PlanStage) -> tuple[str, ...]:
        """Return the arrays that no stage after this one reads, but this one read or wrote."""
        return self._released[stage.name]

    @cached_property
    def _released(self) -> dict[str, tuple[str, ...]]:
        released, kept = {}, {"image", "mask", self.output}
        for stage in reversed(self.stages):
            touched = stage.arrays | {each.name for each in stage.writes}
            released[stage.name] = tuple(sorted(touched - kept))
            kept |= touched
        return released

    @property
    def digest(self) -> str:
        """SHA-256 of the JSON, in hexadecimal digits: equal plans have equal digests."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        """Return the plan as JSON for `from_json`, without the number of threads."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        settings = asdict(self.settings)
        del settings["threads"]
        values |= {
            "spec": asdict(self.spec),
            "settings": settings,
            "ranges": [asdict(each) for each in self.ranges],
            "atoms": self.atoms.tolist(),
            "pyramids": [asdict(each) for each in self.pyramids],
            "format": _FORMAT,
            "version": __version__,
        }
        return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str, *, threads: int | None = None) -> "RestorePlan":
        """Return a plan from the JSON of `to_json`.

        Parameters
        ----------
        text : str
        threads : int, optional
            As in `RestoreSettings`.

        Raises
        ------
        ValueError
            If the plan was made by another version.
        """
        try:
            values = json.loads(text)
            version = values.pop("format"), values.pop("version")
        except (ValueError, KeyError, AttributeError, TypeError):
            raise ValueError("This is not the JSON of a plan.") from None
        if version != (_FORMAT, __version__):
            raise ValueError(
                f"The plan was made by version {version[1]}, but this is {__version__}; make it again."
            )
        try:
            return cls(**_decoded(values, threads))
        except (KeyError, TypeError):
            raise ValueError(
                "This is not the JSON of a plan: a value is missing, or not of its type."
            ) from None


def _decoded(values: dict[str, Any], threads: int | None) -> dict[str, Any]:
    """Return the fields of a plan from what JSON knows of them."""
    settings = values["settings"] | {"bases": tuple(values["settings"]["bases"]), "threads": threads}
    return {
        "spec": ImageSpec(**values["spec"]),
        "settings": ResolvedSettings(**settings),
        "ranges": tuple(ValueRange(**each) for each in values["ranges"]),
        "shares_mask": values["shares_mask"],
        "observed_channels": tuple(values["observed_channels"]),
        "missing_fraction": values["missing_fraction"],
        "atoms": np.array(values["atoms"], np.float64),
        "pyramids": tuple(_pyramid(each) for each in values["pyramids"]),
        "repeats": tuple(tuple(each) for each in values["repeats"]),
        "holes": tuple(tuple(each) for each in values["holes"]),
        "damage_density": values["damage_density"],
    }


def _pyramid(values: dict[str, Any]) -> Pyramid:
    source, fill = values["source"], values["fill"]
    return Pyramid(
        PyramidSource(source["name"], tuple(source["channels"]), source["other"]),
        tuple((tuple(low), tuple(high)) for low, high in values["limits"]),
        None if fill is None else tuple(fill),
    )
