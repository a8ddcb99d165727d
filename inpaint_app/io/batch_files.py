"""The pictures of a batch, and where each result goes."""

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from inpaint_app.errors import Remedy, UserError, join_names, printable_path, reading_error
from inpaint_app.io.paths import is_folder, is_visible_folder, same_file, status_of
from inpaint_app.io.registry import suffixes
from inpaint_app.io.write import default_output
from inpaint_app.model.missing import MaskSpec


@dataclass(frozen=True)
class BatchItem:
    """A picture of the batch."""

    path: Path  #: The damaged picture.
    output: Path  #: The restored one.
    recipe: Path  #: Where its recipe goes, if one is written.
    mask: Path | None = None
    error: UserError | None = None  #: Why it cannot be restored: it has no mask, or cannot be accessed.


@dataclass(frozen=True)
class _FoundPicture:
    """A picture, the folder it lies in as seen from the one that was given, and why it cannot be accessed."""

    path: Path
    inner: Path = Path()
    error: UserError | None = None


def find_items(
    inputs: list[Path], folder: Path, mask_spec: MaskSpec, *, overwrite: bool, recursive: bool = False
) -> list[BatchItem]:
    """Return the pictures to restore, in order and each once; if `recursive`, also those of inner folders.

    Results of inner folders go to folders of the same names, and masks are looked for in such. Links to
    folders are not followed. Raises `UserError` if there is none, or results would collide with each other or
    with the sources.
    """
    pictures: dict[Path, _FoundPicture] = {}
    for given in inputs:
        for found in _pictures(given, folder, recursive=recursive):
            pictures.setdefault(found.path, found)
    errors = [found.error for found in pictures.values() if found.error is not None]
    if len(errors) == len(pictures):
        raise errors[0]
    masks = None if mask_spec.mask is None or not is_folder(mask_spec.mask) else _MaskFolder(mask_spec.mask)
    items = [_item(found, folder, mask_spec.mask, masks) for found in pictures.values()]
    _refuse_collisions(items)
    items = _with_distinct_recipes(items)
    if not overwrite and any(same_file(item.output, item.path) for item in items):
        raise UserError(f"{printable_path(folder)} is where the sources are", Remedy.REPLACE_SOURCES)
    return items


def _pictures(given: Path, output: Path, *, recursive: bool) -> list[_FoundPicture]:
    """Return a picture, or those of a folder; with an error for what cannot be accessed."""
    try:
        if not is_folder(given):
            return [_FoundPicture(given)]
    except UserError as error:
        return [_FoundPicture(given, error=error)]
    found = []
    for folder in (given, *(_inner_folders(given, output) if recursive else ())):
        inner = folder.relative_to(given)
        try:
            found += [_FoundPicture(path, inner) for path in _listing(folder)]
        except UserError as error:
            found.append(_FoundPicture(folder, inner.parent, error))
    if not found:
        raise UserError(f"The folder {printable_path(given)} contains no picture", "give another")
    return found


def _inner_folders(given: Path, output: Path) -> Iterator[Path]:
    """Yield all folders inside a folder, sorted, but for hidden ones, links, and the one of the results."""
    for path, names, _ in os.walk(given):
        names[:] = sorted(name for name in names if name[0] != "." and _is_searched(Path(path, name), output))
        yield from (Path(path, name) for name in names)


def _is_searched(folder: Path, output: Path) -> bool:
    is_link = os.path.islink(folder)  # noqa: PTH114  (the method raises where access is denied)
    return not is_link and not same_file(folder, output)


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


def find_sidecar_mask(picture: Path) -> Path | None:
    """Return the picture file <name>_mask in the folder of a picture; None unless there is just one."""
    names = (picture.with_name(f"{picture.stem}_mask{suffix}") for suffix in suffixes())
    masks = [path for path in names if _may_be_file(path)]
    return masks[0] if len(masks) == 1 else None


class _MaskFolder:
    """A folder of masks, called as the pictures are, or <name>_mask; in folders as those of the pictures."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._by_stem: dict[Path, dict[str, list[Path]]] = {}

    def find(self, found: _FoundPicture) -> Path:
        """Return the mask of a picture; raises `UserError` if there is none, or more than one."""
        folder, stem, name = self._folder / found.inner, found.path.stem, printable_path(found.path)
        if folder not in self._by_stem:
            masks = self._by_stem[folder] = {}
            for path in _listing(folder) if is_visible_folder(folder) else ():
                masks.setdefault(path.stem, []).append(path)
        masks = self._by_stem[folder]
        suitable = masks.get(f"{stem}_mask") or masks.get(stem)
        if suitable is None:
            remedy = f"put {printable_path(stem)}.png into {printable_path(folder)}"
            raise UserError(f"There is no mask for {name}", remedy)
        if len(suitable) > 1:
            names = join_names([printable_path(path) for path in suitable])
            raise UserError(f"There are several masks for {name}", f"keep one of {names}")
        return suitable[0]


def _item(found: _FoundPicture, folder: Path, mask: Path | None, masks: _MaskFolder | None) -> BatchItem:
    path, error = found.path, found.error
    name = f"{path.stem}{default_output(path).suffix}" if path.name else "picture.png"
    output = folder / found.inner / name
    if masks is not None and error is None:
        try:
            mask = masks.find(found)
        except UserError as problem:
            mask, error = None, problem
    return BatchItem(path, output, output.with_suffix(".json"), mask, error)


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
