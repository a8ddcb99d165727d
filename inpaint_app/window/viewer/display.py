"""What every pane shows, decided in one place; no Qt."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from dictsel_core.restoration import CONSTRAINTS
from inpaint_app.engine.export import AtomUse
from inpaint_app.engine.restore import Preview
from inpaint_app.model.look import Look, Scale
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.picture import Array, Mask
from inpaint_app.text import constraint_title
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.document import captions
from inpaint_app.window.document.captions import Forms, comparison_titles, format_pixel
from inpaint_app.window.document.runs import RunRecord
from inpaint_app.window.document.state import DocumentState
from inpaint_app.window.document.view_state import COMPARED, SIDE_BY_SIDE, ViewState

#: The panes by name, in display order; those of a comparison have the titles of its runs.
TITLES = {
    "original": "Original",
    "damaged": "Damaged",
    **dict.fromkeys(COMPARED, "Compared"),
    "restored": "Restored",
    "error": "Error",
    "split": "Damaged and restored",
    "compared_split": "Two runs",
    "result": "Picture",
}

_NOTHING: Forms = ("", "", "")
_ARROW = "   →   "
_IN_PROGRESS = "in progress"
_COMPILING = "The first run compiles what takes longest; this is done once on a computer."
_WAITING = {
    "restore": "The picture is being restored …",
    "compare": "The picture is being restored under each constraint …",
    "tune": "Auto is choosing parameters …",
}
#: The tool that is used on marks of damage, whether that is restored or not.
_SHOWS_MARKS = "pick"
#: Images that another view mode or a held key may show at once.
_ALWAYS_READY = ("damaged", "restored")


@dataclass(frozen=True, eq=False)
class ImageSource:
    """Pixels to draw."""

    pixels: Array  #: As `Picture` has them.
    reference: Array | None = None  #: If given, the errors against it are drawn.
    alpha: Array | None = None  #: Opacity.
    filled: PackedMask | None = None  #: Where pixels were restored, and so are opaque.
    icc: bytes | None = None  #: The color profile.
    look: Look = field(default_factory=Look)  #: How values become colors.


@dataclass(frozen=True)
class PaneDisplay:
    """What one pane shows."""

    title: str  #: Above the picture.
    image: str  #: Key of `Display.images`, which may not have it.
    after: str | None = None  #: The second image of a pane with a divider.
    names: tuple[str, str] = ("", "")  #: Of the two images of a pane with a divider.
    #: Below the picture: the same in fewer and fewer words, for less and less room.
    caption: Forms = _NOTHING
    badge: str = ""  #: A word that marks the picture.
    placeholder: str = ""  #: Text in place of the picture.
    is_hatched: bool = False  #: Whether missing pixels are hatched.
    has_inset: bool = False  #: Whether the preview is drawn on the image.
    scale: Scale | None = None  #: Colors with the values at their ends.
    is_highlighted: bool = False  #: Whether the patches of the chosen atom are highlighted.


@dataclass(frozen=True, eq=False)
class Display:
    """What the viewer shows."""

    panes: Mapping[str, PaneDisplay]  #: All panes by name.
    visible: tuple[str, ...]  #: The panes that are shown.
    images: Mapping[str, ImageSource]  #: What there is to draw.
    #: Which images are to be made ready; the others wait until they are looked at, since large pictures take
    #: memory.
    ready: frozenset[str]
    #: What of the mask is restored, and so not hatched; None where all that is missing is hatched.
    mended: PackedMask | None
    is_bare: bool  #: Whether pictures are shown without titles, captions and figures.
    preview: Preview | None  #: The inset.
    atom_use: AtomUse | None  #: The patches to highlight.


def resolve(state: DocumentState) -> Display:
    """Return what to show of a document."""
    panes = {name: _pane(name, state) for name in TITLES}
    n_sides = len(_sides(state)) or len(COMPARED)
    images = _images(state)
    visible = tuple(
        name
        for name in state.view.mode.panes
        if name not in COMPARED[n_sides:]
        # Before the first result, nothing is shown beside the damaged picture.
        and not (state.view.mode is SIDE_BY_SIDE and name == "restored" and name not in images)
    )
    drawn = (key for name in visible for key in (panes[name].image, panes[name].after) if key)
    ready = frozenset((*_ALWAYS_READY, *drawn))
    is_bare = state.view.is_retouching
    return Display(panes, visible, images, ready, _mended(state), is_bare, state.preview, state.atom_use)


def _mended(state: DocumentState) -> PackedMask | None:
    """Return what is missing in the file, or was marked, and is restored in what retouching shows."""
    view, current, mask = state.view, state.runs.current, state.mask
    if not view.is_retouching or view.tool == _SHOWS_MARKS or current is None or current.image is None:
        return None
    return current.packed_mask if mask is not None and mask.shape == current.packed_mask.shape else None


#: Fields that `resolve` looks at, besides the activity, the view and the preview, of which not all matters.
RESOLVED = ("source", "mask", "damage_quality", "runs", "intermediate", "atom_use", "look")


def is_shown_otherwise(old: DocumentState, new: DocumentState) -> bool:
    """Return whether what is shown has to be resolved again after a change."""
    if any(getattr(old, name) is not getattr(new, name) for name in RESOLVED):
        return True
    one, other = old.view, new.view
    if _looks(one) != _looks(other) or _waiting(old) != _waiting(new):
        return True
    return (old.preview is None) != (new.preview is None)


def _looks(view: ViewState) -> tuple[object, ...]:
    """Return what of a view decides what is shown."""
    return view.workspace, view.mode, view.shows_mask, view.is_before_held, view.tool == _SHOWS_MARKS


def with_preview(display: Display, state: DocumentState) -> Display:
    """Return what is shown when all that has changed is a preview that is there, or whether one is made."""
    panes = {**display.panes, "restored": _pane("restored", state)}
    return replace(display, panes=panes, preview=state.preview)


def painted_captions(state: DocumentState, fraction: float) -> dict[str, Forms]:
    """Return the captions, by pane, that follow a stroke: with the fraction that is missing meanwhile."""
    assert state.mask is not None, "a picture is painted on"
    painted = replace(state, mask=replace(state.mask, fraction=fraction))
    return {name: _pane(name, painted).caption for name in ("damaged", "split")}


def _pane(name: str, state: DocumentState) -> PaneDisplay:
    pane = PaneDisplay(TITLES[name], name, placeholder=_placeholder(name, state))
    return _RESOLVERS[name](pane, state) if name in _RESOLVERS else pane


def _original(pane: PaneDisplay, state: DocumentState) -> PaneDisplay:
    reference = None if state.source is None else state.source.reference
    size = "" if reference is None else f"{reference.width} x {reference.height} pixels"
    return replace(pane, caption=(size, size, size))


def _damaged(pane: PaneDisplay, state: DocumentState) -> PaneDisplay:
    return replace(
        pane,
        caption=_damaged_caption(state),
        is_hatched=state.view.shows_mask,
        is_highlighted=state.atom_use is not None,
    )


def _restored(pane: PaneDisplay, state: DocumentState) -> PaneDisplay:
    pane = replace(pane, is_highlighted=state.atom_use is not None)
    if state.view.is_before_held:
        title, caption = "Damaged (held)", _damaged_caption(state)
        return replace(pane, title=title, image="damaged", caption=caption)
    caption, record = _record_caption(state.runs.current), state.runs.current
    if state.intermediate is not None:
        caption, badge = _NOTHING, _IN_PROGRESS
    else:
        badge = "preview …" if state.is_previewing else "preview" if state.preview is not None else ""
        if state.preview is not None:
            caption = captions.preview_caption(state.preview, record)
    is_hatched = state.view.shows_mask and not _has_result(state)
    has_inset = state.preview is not None and state.intermediate is None
    return replace(pane, caption=caption, badge=badge, is_hatched=is_hatched, has_inset=has_inset)


def _split(pane: PaneDisplay, state: DocumentState) -> PaneDisplay:
    before = _damaged_caption(state)
    names = ("Before", "After") if state.view.is_retouching else (TITLES["damaged"], TITLES["restored"])
    pane = replace(pane, image="damaged", names=names, caption=before, is_hatched=state.view.shows_mask)
    if state.view.is_before_held or not _has_result(state):
        return pane
    pane = replace(pane, after="restored")
    if state.intermediate is not None:
        return replace(pane, badge=_IN_PROGRESS)
    return replace(pane, caption=_from_to(before, _record_caption(state.runs.current)))


def _result(pane: PaneDisplay, state: DocumentState) -> PaneDisplay:
    if state.view.is_before_held:
        return replace(pane, title="Before (held)", image="damaged")
    image = "restored" if _has_result(state) else "damaged"
    return replace(pane, image=image, is_hatched=state.view.shows_mask)


def _compared(pane: PaneDisplay, state: DocumentState) -> PaneDisplay:
    side = _sides(state).get(pane.image)
    if side is None:
        return pane
    if side.is_in_progress:
        return replace(pane, title=side.title, badge=_IN_PROGRESS)
    if side.record is not None and side.record.image is None:
        pane = replace(pane, placeholder="The pixels of this run were released to save memory.")
    return replace(pane, title=side.title, caption=_record_caption(side.record))


def _compared_split(pane: PaneDisplay, state: DocumentState) -> PaneDisplay:
    sides = [_compared(replace(pane, image=key), state) for key in _sides(state)][:2]
    if not sides:
        return replace(pane, image=COMPARED[0])
    before, after = sides[0], sides[-1]
    return replace(
        pane,
        image=before.image,
        after=after.image,
        names=(before.title, after.title),
        caption=_from_to(before.caption, after.caption),
        badge=before.badge or after.badge,
    )


def _error(pane: PaneDisplay, state: DocumentState) -> PaneDisplay:
    look, current = state.look, state.runs.current
    figures = None if current is None else current.figures
    data_range = None if figures is None else figures.scores.data_range
    if data_range is None:
        return pane
    most = data_range / look.error_gain
    scale = Scale("signed", -most, most) if look.has_sign else Scale("gray", 0.0, most)
    words = "Error, restored − original" if look.has_sign else "Error"
    return replace(pane, title=words, scale=scale)


_RESOLVERS = {
    "error": _error,
    "original": _original,
    "damaged": _damaged,
    **dict.fromkeys(COMPARED, _compared),
    "restored": _restored,
    "split": _split,
    "compared_split": _compared_split,
    "result": _result,
}


def _has_result(state: DocumentState) -> bool:
    """Return whether more than a preview is restored."""
    return state.runs.current is not None or state.intermediate is not None


@dataclass(frozen=True, eq=False)
class _Side:
    """One of the pictures that are compared: its record, if it is made."""

    title: str
    record: RunRecord | None
    is_in_progress: bool = False


def _sides(state: DocumentState) -> dict[str, _Side]:
    """Return what is compared, by the names of panes: constraints as they are restored, or earlier runs."""
    records = state.runs.compared
    if state.activity is None or state.activity.kind != "compare":
        titles = comparison_titles(records)
        sides = [_Side(title, record) for title, record in zip(titles, records, strict=True)]
    else:
        made = {record.requested.constraint: record for record in records}
        partial = None if state.intermediate is None else state.intermediate.constraint
        sides = [_Side(constraint_title(c), made.get(c), c == partial) for c in CONSTRAINTS]
    return dict(zip(COMPARED, sides, strict=False))


def _images(state: DocumentState) -> dict[str, ImageSource]:
    source, current, partial = state.source, state.runs.current, state.intermediate
    if source is None:
        return {}
    picture, reference = source.picture, source.reference
    damaged = ImageSource(picture.pixels, alpha=picture.alpha, icc=picture.metadata.icc, look=state.look)
    images = {"damaged": damaged}
    if reference is not None:
        images["original"] = replace(damaged, pixels=reference.pixels, alpha=None, icc=reference.metadata.icc)
    sides = {"restored": _Side("", current, partial is not None), **_sides(state)}
    for name, side in sides.items():
        record = side.record
        if partial is not None and side.is_in_progress:
            images[name] = replace(damaged, pixels=partial.image, alpha=None)
        elif record is not None and record.image is not None:
            images[name] = replace(damaged, pixels=record.image, filled=record.packed_mask)
        elif name == "restored" and state.preview is not None:
            images[name] = damaged
    if source.reference is not None and current is not None and current.image is not None:
        images["error"] = ImageSource(current.image, source.reference.pixels, look=state.look)
    return images


def _damaged_caption(state: DocumentState) -> Forms:
    return captions.damaged_caption(state.missing_fraction, state.damage_quality, state.has_reference)


def _from_to(before: Forms, after: Forms) -> Forms:
    full, shorter, shortest = map(_ARROW.join, zip(before, after, strict=True))
    return full, shorter, shortest


def _record_caption(record: RunRecord | None) -> Forms:
    return _NOTHING if record is None else captions.restored_caption(record)


def _waiting(state: DocumentState) -> str:
    """Return what there is to wait for; empty for nothing."""
    if state.activity is None or state.activity.kind not in _WAITING:
        return ""
    return _COMPILING if state.activity.progress.is_compilation else _WAITING[state.activity.kind]


def _placeholder(name: str, state: DocumentState) -> str:
    """Return why a pane has no picture."""
    if name == "original":
        return "Open the original (reference) to see it here."
    if name == "error" and not state.has_reference:
        return "Errors need the original: open it as the reference."
    if _waiting(state):
        return _waiting(state)
    if state.missing_fraction == 0:
        way = f"paint over damage, or draw once around it{key_hint('heal')}, to restore it"
        return f"Nothing is missing: {way}."
    if name in COMPARED or name == "compared_split":
        return (
            f"Choose two runs of the history (Ctrl+click), or compare the constraints{key_hint('compare')}."
        )
    return (
        f"Restore{key_hint('restore')} to see the errors."
        if name == "error"
        else f"Restore{key_hint('restore')} to see the picture here."
    )


Pixel = tuple[int, int]


def readout(display: Display, pane: PaneDisplay, mask: Mask, pixel: Pixel) -> str:
    """Return the values of a pixel as a pane draws it; empty where it draws none."""
    inset = display.preview if pane.has_inset else None
    if inset is not None and inset.rect.contains(pixel):
        return format_pixel(inset.image, pixel[0] - inset.rect.row, pixel[1] - inset.rect.column)
    keys = (pane.image,) if pane.after is None else (pane.image, pane.after)
    return " → ".join(filter(None, (_values(display, key, mask, pixel) for key in keys)))


def _values(display: Display, key: str, mask: Mask, pixel: Pixel) -> str:
    source = display.images.get(key)
    if source is None or source.reference is not None:
        return ""
    if source.pixels is display.images["damaged"].pixels and bool(np.all(mask[pixel])):
        return "missing"
    return format_pixel(source.pixels, *pixel)
