"""Wide holes filled as the user says: from where pieces come, or by which network."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dictsel_core
from dictsel_core import RestoreSettings
from dictsel_core.restoration.wide import REACH
from inpaint_app.errors import UserError, printable_path
from inpaint_app.files.read import read_picture
from inpaint_app.image.missing import Mask, pixels_of_mask
from inpaint_app.image.picture import Array, Picture, channel_axis
from inpaint_app.jobs.control import JobControl, ProgressReporter
from inpaint_app.jobs.network import Network, fill_by_network


@dataclass(frozen=True, eq=False)
class HoleFill:
    """How the wide holes of a picture are filled, in place of what `RestoreSettings.fill` does."""

    fill_from: Mask | None = None  #: (H, W), True = may be copied; None for what is around.
    network: Network | None = None  #: What fills them; None copies pieces of the picture.

    def fill(
        self,
        image: Array,
        mask: Mask,
        settings: RestoreSettings,
        control: JobControl,
        reporter: ProgressReporter,
    ) -> Array:
        """Return a smoothly restored picture with its wide holes filled; raises `UserError` if it cannot be.

        The `mask` is that of the missing pixels, True = missing.
        """
        reach = REACH["texture" if settings.fill == "texture" else "auto"]
        if self.network is not None:
            reporter.update("filling wide holes with the network", 0.0)
            holes = mask if mask.ndim == 2 else np.asarray(mask.all(axis=2))
            wide = dictsel_core.completion.wide_parts(holes, reach)  # loads scipy, when it is needed
            return fill_by_network(image, wide, self.network)

        run = dictsel_core.completion.iter_fill_holes(
            image,
            mask,
            fill_from=self.fill_from,
            reach=reach,
            channel_axis=channel_axis(image),
            seed=settings.seed,
            threads=settings.threads,
        )
        return control.drain(run, lambda fraction: reporter.update("filling wide holes", fraction))


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
        return HoleFill(allowed)
