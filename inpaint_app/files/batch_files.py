"""The pictures of a batch, and where each result goes."""

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from inpaint_app.errors import Remedy, UserError, printable_path, reading_error
from inpaint_app.files.paths import is_folder, same_file, status_of
from inpaint_app.files.registry import suffixes
from inpaint_app.files.write import default_output
from inpaint_app.image.mask_spec import MaskSpec


@dataclass(frozen=True)
class BatchItem:
    """A picture of the batch.

    Attributes
    ----------
    path, output : Path
        The damaged picture and the restored one.
    recipe : Path
        Where its recipe goes, if one is written.
    mask : Path or None
        Its mask.
    error : UserError or None
        Why it cannot be restored: it has no mask, or cannot be accessed.
    """

    path: Path
    output: Path
    recipe: Path
    mask: Path | None = None
    error: UserError | None = None


def find_items(
    inputs: list[Path], folder: Path, mask_spec: MaskSpec, *, overwrite: bool, recursive: bool = False
) -> list[BatchItem]:
    """Return the pictures to restore, in order and each once; if `recursive`, also those of inner folders.

    Results of inner folders go to folders of the same names.

    Raises
    ------
    UserError
        If there is none, or results would collide with each other or with the sources.
    """
    paths: dict[Path, UserError | None] = {}
    folders: dict[Path, Path] = {}
    for given in inputs:
        for path, error in _pictures(given, folder, recursive=recursive).items():
            paths.setdefault(path, error)
            is_inside = recursive and path != given and error is None
            folders.setdefault(path, folder / path.parent.relative_to(given) if is_inside else folder)
    if all(error is not None for error in paths.values()):
        raise next(error for error in paths.values() if error is not None)
    masks = _masks(mask_spec.mask)
    items = [_item(path, error, folders[path], mask_spec.mask, masks) for path, error in paths.items()]
    _refuse_collisions(items)
    items = _with_distinct_recipes(items)
    if not overwrite and any(_is_source(item) for item in items):
        raise UserError(
            f"{printable_path(folder)} is where the sources are",
            Remedy.REPLACE_SOURCES,
        )
    return items


def _pictures(given: Path, output: Path, *, recursive: bool) -> dict[Path, UserError | None]:
    """Return a picture, or those of a folder; with an error for what cannot be accessed."""
    try:
        if not is_folder(given):
            return {given: None}
        found = _listing(given)
        for inner in _inner_folders(given, output) if recursive else ():
            found += _listing(inner)
    except UserError as error:
        return {given: error}
    if not found:
        raise UserError(f"The folder {printable_path(given)} contains no picture", "give another")
    return dict.fromkeys(found)


def _inner_folders(given: Path, output: Path) -> Iterator[Path]:
    """Yield all folders inside a folder, sorted, but for hidden ones and the one of the results."""
    for path, names, _ in os.walk(given):
        names[:] = sorted(
            name for name in names if name[0] != "." and not same_file(Path(path, name), output)
        )
        yield from (Path(path, name) for name in names)


def _listing(folder: Path) -> list[Path]:
    """Return the pictures directly inside a folder, sorted by name; also those that cannot be accessed."""
    try:
        inside = sorted(folder.iterdir())
    except OSError as error:
        raise reading_error(error, folder) from error
    return [
        path
        for path in inside
        if path.suffix.lower() in suffixes() and not path.name.startswith(".") and _may_be_file(path)
    ]


def _may_be_file(path: Path) -> bool:
    try:
        status = status_of(path)
    except UserError:  # reported when it is read
        return True
    return status is not None and stat.S_ISREG(status.st_mode)


def _masks(given: Path | None) -> dict[str, Path] | None:
    """Return the masks of a folder by the name of their picture; None if one mask serves all."""
    if given is None or not is_folder(given):
        return None
    return {path.stem.removesuffix("_mask"): path for path in _listing(given)}


def _item(
    path: Path, error: UserError | None, folder: Path, mask: Path | None, masks: dict[str, Path] | None
) -> BatchItem:
    name = f"{path.stem}{default_output(path).suffix}" if path.name else "picture.png"
    output = folder / name
    item = BatchItem(path, output, output.with_suffix(".json"), mask, error)
    if masks is None or error is not None:
        return item
    if path.stem not in masks:
        remedy = f"put {printable_path(path.stem)}.png into the mask folder"
        lacking = UserError("There is no mask for it", remedy)
        return replace(item, mask=None, error=lacking)
    return replace(item, mask=masks[path.stem])


def _with_distinct_recipes(items: list[BatchItem]) -> list[BatchItem]:
    """Name the recipes of a.png and a.tif, which both would be a.json, a.png.json and a.tif.json."""
    counts = Counter(item.recipe for item in items)
    long_names = [item.output.with_name(f"{item.output.name}.json") for item in items]
    return [
        item
        if counts[item.recipe] == 1 and item.recipe not in long_names
        else replace(item, recipe=long_name)
        for item, long_name in zip(items, long_names, strict=True)
    ]


def _is_source(item: BatchItem) -> bool:
    return same_file(item.output, item.path)


def _refuse_collisions(items: list[BatchItem]) -> None:
    counts = Counter(item.output for item in items if item.error is None)
    if not counts:
        return
    output, count = counts.most_common(1)[0]
    if count > 1:
        one, other = [item.path for item in items if item.output == output and item.error is None][:2]
        names = [printable_path(path) for path in (one, other, output)]
        raise UserError(
            f"{names[0]} and {names[1]} would both be written as {names[2]}", "rename one of them"
        )
