"""What every pane shows, for every state of the session; without widgets."""

from dataclasses import replace

import numpy as np
import pytest

from dictsel_core import Restoration, RestoreSettings
from inpaint_app.engine.control import Progress
from inpaint_app.engine.export import AtomUse
from inpaint_app.engine.measure import QualityMetrics, Scores
from inpaint_app.engine.restore import IntermediateImage, Preview
from inpaint_app.engine.source import Source
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.missing import collect_missing
from inpaint_app.model.picture import Picture, Rect
from inpaint_app.window.background.work import Activity
from inpaint_app.window.document.runs import RunHistory, RunRecord
from inpaint_app.window.document.state import DocumentState
from inpaint_app.window.document.view_state import (
    COMPARED,
    COMPARISON,
    ERROR_MAP,
    SPLIT,
    SPLIT_COMPARISON,
    VIEW_MODES,
    ViewState,
)
from inpaint_app.window.viewer import display as displaying
from inpaint_app.window.viewer.display import TITLES, Display

VIEW, HELD = ViewState(), ViewState(is_before_held=True)
SHAPE = (8, 12)


def image(shade: int) -> np.ndarray:
    return np.full(SHAPE, shade, np.uint8)


DAMAGED, WHOLE, PARTIAL = Picture(image(1)), Picture(image(2)), image(3)
PREVIEW = Preview(Rect(2, 3, 2, 3), np.full((2, 3), 9, np.uint8))
MASK = PackedMask.pack(image(1) > 0)
HALF = replace(MASK, fraction=0.5)
MEASURED = QualityMetrics(Scores(31.0, None, 0.9, None))


def record(number: int, constraint: str = "average") -> RunRecord:
    settings, pixels = RestoreSettings(constraint=constraint), image(10 + number)
    restoration = Restoration(
        pixels, settings, 0.5, None, np.zeros((0, 2), np.intp), np.zeros(0, np.intp), 0, 0, {}
    )
    return RunRecord(number, settings, MASK, 1.0, pixels, restoration, MEASURED)


def resolve(state: DocumentState, view: ViewState) -> Display:
    return displaying.resolve(replace(state, view=view))


@pytest.fixture
def opened() -> DocumentState:
    return DocumentState(Source(DAMAGED, collect_missing(DAMAGED), "damaged.png"), HALF)


@pytest.fixture
def restored(opened) -> DocumentState:
    source = replace(opened.source, reference=WHOLE)
    history = RunHistory((record(1),), current_number=1)
    return replace(opened, source=source, runs=history, damage_quality=QualityMetrics())


@pytest.fixture
def compared(restored) -> DocumentState:
    records = (record(1, "individual"), record(2))
    return replace(restored, runs=RunHistory(records, 2, comparison=(1, 2)))


def pixels(display, name: str):
    """Return what a pane draws."""
    source = display.images.get(display.panes[name].image)
    return None if source is None else source.pixels


def test_without_a_document_there_is_nothing_to_draw() -> None:
    display = resolve(DocumentState(), VIEW)
    assert (display.images, set(display.panes)) == ({}, set(TITLES))


@pytest.mark.parametrize("mode", VIEW_MODES.values(), ids=VIEW_MODES)
def test_the_mode_decides_what_is_visible_and_made_ready(compared, mode) -> None:
    display = resolve(compared, VIEW.with_mode(mode))
    n_runs = len(compared.runs.comparison)
    assert display.visible == tuple(name for name in mode.panes if name not in COMPARED[n_runs:])
    shown = {
        key for name in display.visible for key in (display.panes[name].image, display.panes[name].after)
    }
    assert display.ready == {*filter(None, shown), "damaged", "restored"}
    assert display.ready <= set(display.images)


def test_every_pane_has_its_picture_and_caption(compared) -> None:
    display = resolve(compared, VIEW)
    individual, average = compared.runs.records
    assert pixels(display, "damaged") is DAMAGED.pixels
    assert pixels(display, "original") is WHOLE.pixels
    assert pixels(display, "compared_1") is individual.image
    assert pixels(display, "compared_2") is pixels(display, "restored") is average.image
    error = display.images["error"]
    assert (error.pixels is average.image, error.reference is WHOLE.pixels) == (True, True)
    assert display.panes["original"].caption[0] == "12 x 8 pixels"
    assert display.panes["damaged"].caption[0].startswith("50.0 % missing")
    assert "31.00 dB" in display.panes["restored"].caption[0]
    assert display.panes["compared_2"].caption == display.panes["restored"].caption
    assert display.panes["compared_1"].title == "Individual sparsity"
    titles = {name: pane.title for name, pane in display.panes.items() if name not in COMPARED}
    assert titles == {name: title for name, title in TITLES.items() if name not in COMPARED}


def test_missing_pixels_are_hatched_where_the_damaged_picture_is_shown(opened, restored) -> None:
    def hatched(scene: DocumentState, view: ViewState) -> set[str]:
        return {name for name, pane in resolve(scene, view).panes.items() if pane.is_hatched}

    assert hatched(restored, VIEW) == {"damaged", "split", "result"}
    assert hatched(replace(opened, preview=PREVIEW), VIEW) == {"damaged", "split", "restored", "result"}
    assert hatched(restored, HELD) == {"damaged", "split"}, "nothing lies over what is looked at"
    assert hatched(opened, replace(VIEW, shows_mask=False)) == set()


def test_a_held_key_shows_the_damaged_picture_for_the_restored_one(restored) -> None:
    scene = replace(restored, preview=PREVIEW, intermediate=IntermediateImage("average", PARTIAL))
    display = resolve(scene, HELD)
    pane = display.panes["restored"]
    assert pixels(display, "restored") is DAMAGED.pixels
    assert (pane.title, pane.badge, pane.has_inset) == ("Damaged (held)", "", False)
    assert pane.caption == display.panes["damaged"].caption
    split = display.panes["split"]
    assert (split.after, split.badge, split.caption) == (None, "", display.panes["damaged"].caption)


def test_a_run_in_progress_is_drawn_and_marked_and_has_no_figures(compared) -> None:
    scene = replace(
        compared,
        activity=Activity("compare", Progress("x")),
        intermediate=IntermediateImage("individual", PARTIAL),
    )
    display = resolve(scene, VIEW)
    for name in ("restored", "compared_1"):
        pane = display.panes[name]
        assert pixels(display, name) is PARTIAL
        assert (pane.badge, pane.caption[0]) == ("in progress", "")
    assert (display.panes["split"].after, display.panes["split"].badge) == ("restored", "in progress")
    assert pixels(display, "compared_2") is compared.runs.current.image
    assert display.panes["compared_2"].badge == ""


def test_a_preview_is_an_inset_on_what_was_restored_before(opened, restored) -> None:
    display = resolve(replace(restored, preview=PREVIEW), VIEW)
    pane = display.panes["restored"]
    assert (pane.has_inset, pane.badge, display.preview) == (True, "preview", PREVIEW)
    assert pane.caption == ("around it: run 1", "run 1", "")
    measured = resolve(replace(restored, preview=replace(PREVIEW, psnr=31.2)), VIEW).panes["restored"]
    assert measured.caption[0] == "preview: PSNR 31.20 dB   around it: run 1"
    running = replace(restored, preview=PREVIEW, intermediate=IntermediateImage("average", PARTIAL))
    assert not resolve(running, VIEW).panes["restored"].has_inset
    assert pixels(display, "restored") is restored.runs.current.image
    display = resolve(replace(opened, preview=PREVIEW), VIEW)
    assert pixels(display, "restored") is DAMAGED.pixels, "nothing was restored before"
    assert display.panes["split"].after is None


def test_a_preview_to_come_is_announced(restored) -> None:
    assert resolve(replace(restored, is_previewing=True), VIEW).panes["restored"].badge == "preview …"


def test_both_captions_stand_below_the_split_picture(restored) -> None:
    panes = resolve(restored, VIEW.with_mode(SPLIT)).panes
    both = zip(panes["damaged"].caption, panes["restored"].caption, strict=True)
    assert panes["split"].caption == tuple("   →   ".join(pair) for pair in both)
    assert (panes["split"].image, panes["split"].after) == ("damaged", "restored")


def test_a_pair_is_compared_only_while_one_of_it_is_current(compared) -> None:
    history = compared.runs.added(record(3))
    scene = replace(compared, runs=replace(history, current_number=3))
    display = resolve(scene, VIEW.with_mode(COMPARISON))
    assert (pixels(display, "compared_1"), pixels(display, "compared_2")) == (None, None)
    assert "F6" in display.panes["compared_2"].placeholder


def test_two_runs_stand_on_either_side_of_a_line(compared) -> None:
    pane = resolve(compared, VIEW.with_mode(SPLIT_COMPARISON)).panes["compared_split"]
    assert (pane.image, pane.after) == ("compared_1", "compared_2")
    assert pane.names == ("Individual sparsity", "Average sparsity")
    assert pane.caption[0].count("31.00 dB") == 2


def test_a_compared_run_whose_pixels_were_released_says_so(compared) -> None:
    first, second = compared.runs.records
    history = replace(compared.runs, records=(first.without_image(), second))
    display = resolve(replace(compared, runs=history), VIEW.with_mode(COMPARISON))
    assert pixels(display, "compared_1") is None
    assert "released" in display.panes["compared_1"].placeholder


def test_pixels_let_go_to_save_memory_are_not_drawn(restored) -> None:
    slim = restored.runs.current.without_image()
    scene = replace(restored, runs=replace(restored.runs, records=(slim,)))
    display = resolve(scene, VIEW)
    assert pixels(display, "restored") is None
    assert "error" not in display.images


def test_the_chosen_atom_is_lit_up_on_damaged_and_restored(restored) -> None:
    use = AtomUse(1, (Rect(0, 0, 8, 8),))
    display = resolve(replace(restored, atom_use=use), VIEW)
    assert {name for name, pane in display.panes.items() if pane.is_highlighted} == {"damaged", "restored"}
    assert display.atom_use is use


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({}, "restored", "Restore (F5) to see the picture here."),
        (
            {},
            "compared_2",
            "Choose two runs of the history (Ctrl+click), or compare the constraints (F6).",
        ),
        ({}, "original", "Open the original (reference) to see it here."),
        ({}, "error", "Errors need the original: open it as the reference."),
        (
            {"mask": PackedMask.empty(SHAPE)},
            "restored",
            "Nothing is missing: paint over damage, or draw once around it (H), to restore it.",
        ),
        ({"activity": Activity("restore", Progress("x"))}, "restored", "The picture is being restored …"),
        (
            {"activity": Activity("restore", Progress("x", is_compilation=True))},
            "restored",
            "The first run compiles what takes longest; this is done once on a computer.",
        ),
        ({"activity": Activity("tune", Progress("x"))}, "restored", "Auto is choosing parameters …"),
        ({"activity": Activity("open", Progress("x"))}, "restored", "Restore (F5) to see the picture here."),
    ],
)
def test_an_empty_pane_says_what_it_waits_for(opened, changes, name, words) -> None:
    assert resolve(replace(opened, **changes), VIEW).panes[name].placeholder == words


def test_the_error_view_waits_for_a_result_once_there_is_a_reference(opened) -> None:
    scene = replace(opened, source=replace(opened.source, reference=WHOLE))
    pane = resolve(scene, VIEW.with_mode(ERROR_MAP)).panes["error"]
    assert pane.placeholder == "Restore (F5) to see the errors."
