"""Wide holes filled as the user says: from where pieces come, or by which network."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dictsel_core
from dictsel_core import RestoreSettings
from dictsel_core.restoration.settings import REACH
from inpaint_app.engine.control import JobControl, ProgressReporter
from inpaint_app.engine.network import Network, fill_by_network
from inpaint_app.errors import UserError, printable_path
from inpaint_app.io.read import read_picture
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.missing import pixels_of_mask
from inpaint_app.model.picture import Array, Mask, Picture, Rect, channel_axis


@dataclass(frozen=True, eq=False)
class HoleFill:
    """How the wide holes of a picture are filled, in place of what `RestoreSettings.fill` does."""

    wanted: PackedMask | None = None  #: (H, W), True = may be copied; None for everything.
    unwanted: PackedMask | None = None  #: (H, W), True = is not copied; None for nothing.
    network: Network | None = None  #: What fills them; None copies pieces of the picture.

    def with_area(
        self, rect: Rect, inside: Mask, shape: tuple[int, int], *, may_be_copied: bool
    ) -> "HoleFill":
        """Return a fill that copies some more pixels of a rectangle, or does not copy them; of no network."""
        known = self.wanted if may_be_copied else self.unwanted
        area = np.zeros(shape, np.bool_) if known is None else known.unpack()
        area[rect.slices] |= inside
        packed = PackedMask.pack(area)
        return HoleFill(packed, self.unwanted) if may_be_copied else HoleFill(self.wanted, packed)

    @property
    def fill_from(self) -> Mask | None:
        """Which pixels may be copied, (H, W); None for those around each hole."""
        wanted, unwanted = (None if each is None else each.unpack() for each in (self.wanted, self.unwanted))
        if unwanted is None:
            return wanted
        return ~unwanted if wanted is None else wanted & ~unwanted

    def fill(
        self,
        image: Array,
        mask: Mask,
        settings: RestoreSettings,
        control: JobControl,
        reporter: ProgressReporter,
        rect: Rect | None = None,
    ) -> Array:
        """Return a smoothly restored picture with its wide holes filled; raises `UserError` if it cannot be.

        The `mask` is True where pixels are missing. With a rectangle, only the holes in it are filled, and
        only it need be restored.
        """
        estimated = image if rect is None else _with_estimates_beyond(image, mask, rect)
        reach = REACH["texture" if settings.fill == "texture" else "auto"]
        if self.network is not None:
            reporter.update("filling wide holes with the network", 0.0)
            holes = mask if mask.ndim == 2 else np.asarray(mask.all(axis=2))
            wide = dictsel_core.completion.wide_parts(holes, reach)  # loads scipy, when it is needed
            if rect is not None:
                inside = np.zeros_like(wide)
                inside[rect.slices] = wide[rect.slices]
                wide = inside
            filled = fill_by_network(estimated, wide, self.network)
        else:
            run = dictsel_core.completion.iter_fill_holes(
                estimated,
                mask,
                fill_from=self.fill_from,
                region=None if rect is None else rect.slices,
                reach=reach,
                channel_axis=channel_axis(image),
                seed=settings.seed,
                threads=settings.threads,
            )
            filled = control.drain(run, lambda fraction: reporter.update("filling wide holes", fraction))
        if rect is None or estimated is image:
            return filled
        result = image.copy()
        result[rect.slices] = filled[rect.slices]
        return result


def _with_estimates_beyond(image: Array, mask: Mask, rect: Rect) -> Array:
    """Return a picture that is restored in a rectangle with rough estimates of all other missing pixels.

    What these hold is damage, or NaN, and would tell what fits into a hole near them.
    """
    beyond = mask.copy()
    beyond[rect.slices] = False
    if not beyond.any():
        return image
    estimated, mean = image.copy(), image[rect.slices].mean(axis=(0, 1))
    where = beyond if beyond.ndim == image.ndim else beyond[:, :, None]
    np.copyto(estimated, mean.astype(image.dtype), where=where)
    return estimated


@dataclass(frozen=True)
class HoleFillFiles:
    """The files that say how wide holes are filled."""

    fill_from: Path | None = None  #: A picture of the same size, white = may be copied.
    network: Path | None = None  #: An ONNX file.

    def read(self, picture: Picture) -> HoleFill | None:
        """Return how the holes of a picture are filled; None if no file says that."""
        if self.network is not None:
            return HoleFill(network=Network.load(self.network))
        if self.fill_from is None:
            return None
        marked = pixels_of_mask(picture, read_picture(self.fill_from))
        allowed = marked if marked.ndim == 2 else np.asarray(marked.all(axis=2))
        if not allowed.any():
            raise UserError(
                f"{printable_path(self.fill_from)} marks nothing to copy from",
                "paint white what may be copied into holes",
            )
        return HoleFill(PackedMask.pack(allowed))
