"""Which pictures a batch takes, and where each result goes."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from inpaint_app.errors import Remedy, UserError, printable_path, reading_error
from inpaint_app.files.write import default_output
from inpaint_app.image.mask_spec import MaskSpec

READABLE_SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".tif", ".tiff", ".bmp", ".webp", ".pbm", ".pgm"}
    | {".ppm", ".pnm"}
)
"""Names that end so are taken from a folder."""


@dataclass(frozen=True)
class Item:
    """A picture of the batch, its mask and its result; `error` where it has no mask."""

    path: Path
    output: Path
    mask: Path | None = None
    error: UserError | None = None


def find_items(inputs: list[Path], folder: Path, mask_spec: MaskSpec, *, overwrite: bool) -> list[Item]:
    """Return the pictures to restore, in order and each once.

    Raises
    ------
    UserError
        If there is none, or results would collide with each other or with the sources.
    """
    paths = list(dict.fromkeys(path for given in inputs for path in _pictures(given)))
    masks = _masks(mask_spec.mask)
    items = [_item(path, folder, mask_spec.mask, masks) for path in paths]
    _refuse_collisions(items)
    if not overwrite and any(_is_source(item) for item in items):
        raise UserError(f"{printable_path(folder)} is where the sources are", Remedy.REPLACE_SOURCES)
    return items


def _pictures(given: Path) -> list[Path]:
    if not given.is_dir():
        return [given]
    found = _listing(given)
    if not found:
        raise UserError(f"The folder {printable_path(given)} holds no picture", "give another")
    return found


def _listing(folder: Path) -> list[Path]:
    """Return the pictures directly inside a folder, by name."""
    try:
        inside = sorted(folder.iterdir())
    except OSError as error:
        raise reading_error(error, folder) from error
    return [
        path
        for path in inside
        if path.suffix.lower() in READABLE_SUFFIXES and not path.name.startswith(".") and path.is_file()
    ]


def _masks(given: Path | None) -> dict[str, Path] | None:
    """Return the masks of a folder by the name of their picture; None where one is meant for all."""
    if given is None or not given.is_dir():
        return None
    return {path.stem.removesuffix("_mask"): path for path in _listing(given)}


def _item(path: Path, folder: Path, mask: Path | None, masks: dict[str, Path] | None) -> Item:
    output = folder / f"{path.stem}{default_output(path).suffix}"
    if masks is None:
        return Item(path, output, mask)
    if path.stem not in masks:
        return Item(
            path,
            output,
            None,
            UserError("There is no mask for it", f"put {printable_path(path.stem)}.png into the mask folder"),
        )
    return Item(path, output, masks[path.stem])


def _is_source(item: Item) -> bool:
    return item.path.exists() and item.output.exists() and item.output.samefile(item.path)


def _refuse_collisions(items: list[Item]) -> None:
    counts = Counter(item.output for item in items)
    output, count = counts.most_common(1)[0]
    if count > 1:
        one, other = [item.path for item in items if item.output == output][:2]
        names = [printable_path(path) for path in (one, other, output)]
        raise UserError(
            f"{names[0]} and {names[1]} would both be written as {names[2]}", "rename one of them"
        )
