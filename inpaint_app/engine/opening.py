"""Open what is looked at: a picture, a plane of a file, or less than one that is larger than memory."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from inpaint_app.engine.control import JobControl
from inpaint_app.engine.overview import (
    Overview,
    at_full_size,
    can_be_parted,
    open_overview,
    overview_picture,
)
from inpaint_app.engine.source import (
    BYTES_PER_VALUE,
    NOTHING,
    Plane,
    Source,
    as_marked,
    check_input,
    detect_again,
    mask_page,
    memory,
    with_reference,
)
from inpaint_app.errors import Remedy, UnviewableError, UserError, printable_path
from inpaint_app.io.assets import ORIGINAL, read_sample
from inpaint_app.io.format import MAX_PIXELS
from inpaint_app.io.paths import is_zarr
from inpaint_app.io.read import read_picture
from inpaint_app.model.damage import Damage, damaged
from inpaint_app.model.missing import MaskSpec, MissingPixels, collect_missing
from inpaint_app.model.picture import Picture

#: Colors that people mark missing pixels with and that photographs hardly hold.
MARKING_COLORS = ("#ff00ff", "#00ff00")
#: Fewer pixels of such a color are not taken for marks.
_MIN_FRACTION = 0.001


def open_source(
    path: Path,
    mask_spec: MaskSpec,
    reference: Path | None = None,
    plane: Plane | None = None,
    control: JobControl | None = None,
) -> Source:
    """Read a picture to be shown, which may be intact, and its reference; of several planes one.

    Where nothing is marked as missing, a common marking color is recognized. A picture that is larger than
    memory is reduced. Raises `UserError` if a file cannot be read or does not fit; `UnviewableError` if a
    screen cannot show it.
    """
    if can_be_parted(path) and exceeds_memory(path):
        return overview_source(open_overview(path), mask_spec, plane or Plane(), control or JobControl())
    check_input(path)
    read = read_picture(path)
    if not (read.more_pages or read.n_bands not in (1, 3)):
        source = source_from_picture(_viewable(read, path), path.name, path, mask_spec)
    else:
        chosen = plane or Plane(0, None if read.n_bands in (1, 3) else 0)
        source = plane_source(Source(read, NOTHING, path.name, path, whole=read), chosen, mask_spec)
    return source if reference is None else with_reference_file(source, reference)


def exceeds_memory(path: Path) -> bool:
    """Return whether a file that can be read in parts is too large to be read as a whole."""
    if is_zarr(path):
        return True
    try:
        found = open_overview(path)
    except UserError:  # which is said when it is read
        return False
    n_pixels = math.prod(found.shape[:2]) * found.n_planes
    n_values = math.prod(found.shape) * found.n_planes
    return n_pixels > MAX_PIXELS or n_values * BYTES_PER_VALUE > memory()


def overview_source(overview: Overview, spec: MaskSpec, plane: Plane, control: JobControl) -> Source:
    """Return a plane of a picture that is larger than memory, reduced; of many bands the first one."""
    if not 0 <= plane.page < overview.n_planes:
        raise UserError(f"{printable_path(overview.path)} has no page {plane.page + 1}", "choose another")
    picture = overview_picture(overview, control, plane.page)
    if picture.n_bands not in (1, 3):
        picture = replace(picture, pixels=np.ascontiguousarray(picture.pixels[..., 0]))
    picture = at_full_size(overview, _viewable(picture, overview.path))
    # A mask file is as large as the picture itself.
    marks = replace(spec, mask=None)
    name, path = overview.path.name, overview.path
    source = Source(picture, NOTHING, name, path, overview=overview, plane=Plane(plane.page))
    return replace(as_marked(source, marks, None), mask_spec=spec)


def plane_source(
    source: Source, plane: Plane, mask_spec: MaskSpec | None = None, control: JobControl | None = None
) -> Source:
    """Return another plane of the file of a source, with missing pixels as they are marked there.

    A band that the page does not have is its last one, and none is chosen for gray and color pages unless
    it is asked for. Raises `UserError` if there is no such page; `UnviewableError` if it cannot be shown.
    """
    whole, path = source.whole, source.path
    spec = source.mask_spec if mask_spec is None else mask_spec
    if source.overview is not None:
        return overview_source(source.overview, spec, plane, control or JobControl())
    assert whole is not None and path is not None, "it has several planes"
    if not 0 <= plane.page <= len(whole.more_pages):
        raise UserError(f"{printable_path(path)} has no page {plane.page + 1}", "choose another")
    page = whole.pages[plane.page]
    band = plane.band if plane.band is not None or page.n_bands in (1, 3) else 0
    band = None if band is None or page.n_bands == 1 else min(band, page.n_bands - 1)
    if band is not None:
        page = replace(page, pixels=np.ascontiguousarray(page.pixels[..., band]))
    shown = Source(
        _viewable(page, path), NOTHING, source.name, path, whole=whole, plane=Plane(plane.page, band)
    )
    return as_marked(shown, spec, mask_page(shown, spec))


def open_sample(damage: Damage) -> Source:
    """Return the bundled picture with simulated damage."""
    intact = read_sample(ORIGINAL)
    return simulate_damage(Source(intact, collect_missing(intact), "Sample", is_sample=True), damage)


def source_from_picture(
    picture: Picture, name: str, path: Path | None = None, mask_spec: MaskSpec | None = None
) -> Source:
    """Return a source from a picture that has been read, or has come from elsewhere than a file."""
    spec = mask_spec or MaskSpec()
    source = detect_again(Source(picture, collect_missing(picture), name, path), spec)
    if source.missing.sources or spec != MaskSpec() or not picture.is_color:
        return source
    for key in MARKING_COLORS:
        marked = collect_missing(picture, key=key)
        if _MIN_FRACTION <= marked.fraction < 1:
            notice = f"Pixels of the color {key} were taken for missing; clear the mask if they are not."
            noted = picture.with_notices(notice)
            return replace(source, picture=noted, mask_spec=MaskSpec(key=key), missing=marked)
    return source


def simulate_damage(source: Source, damage: Damage) -> Source:
    """Return the source with other damage; the undamaged picture becomes the reference."""
    whole = source.intact
    if collect_missing(whole).sources:
        raise UserError("The picture has missing pixels of its own", "simulate damage on an intact one")
    mask = damage.mask(source.shape)
    return replace(
        source,
        picture=damaged(whole, mask),
        missing=MissingPixels(mask, ("simulated",)),
        damage=str(damage),
        path=None,
        whole=None,
        overview=None,
        plane=Plane(),
        reference=whole,
        reference_path=source.path or source.reference_path,
        mask_spec=MaskSpec(),
        doubt=None,
        found={},
        marking_note="",
    )


def with_reference_file(source: Source, path: Path) -> Source:
    """Return the source with the undamaged picture in a file: of several pages, the one that is shown."""
    if source.whole is None:
        return with_reference(source, path)
    reference = read_picture(path)
    if len(reference.pages) == source.n_pages:
        whole = Source(reference, NOTHING, path.name, path, whole=reference)
        reference = plane_source(whole, source.plane, MaskSpec()).picture
    return with_reference(source, path, reference)


def _viewable(picture: Picture, path: Path) -> Picture:
    """Return a gray or RGB picture as 8 or 16 bits or float32, or refuse it if that loses values."""
    if picture.is_plain:
        return picture
    narrow = picture.pixels.astype(np.float32)
    if not picture.is_float and not np.array_equal(narrow.astype(np.float64), picture.pixels):
        raise UnviewableError(
            f"{printable_path(path)} has whole numbers that float32 cannot hold", Remedy.RESTORE_ARRAY
        )
    alpha = (
        None if picture.alpha is None else picture.alpha.astype(np.float32) / np.float32(picture.max_value)
    )
    kept = "were rounded to float32" if picture.is_float else "are kept exactly, as float32"
    return replace(picture, pixels=narrow, alpha=alpha).with_notices(f"The {picture.mode} values {kept}.")
