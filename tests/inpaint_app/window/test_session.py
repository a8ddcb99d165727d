"""The session without any widget: what it knows after what was asked of it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from recipes import save_recipe
from windows import FAST, SLOW, is_unsaved, opened, restored, settle, watch

from dictsel_core import RestoreSettings, psnr, restore, ssim
from inpaint_app.engine.opening import open_sample
from inpaint_app.io.assets import DAMAGED, read_sample
from inpaint_app.model.damage import SAMPLES, Damage
from inpaint_app.model.masks import MaskOrigin
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Picture, Rect
from inpaint_app.text import unbroken
from inpaint_app.window.document.view_state import COMPARISON, SPLIT
from inpaint_app.window.session import Session


def snapshot(session: Session) -> tuple:
    """All that a cancelled run must leave as it was."""
    return (
        session.state.source,
        session.document.mask.copy().tobytes(),
        session.state.settings,
        session.state.runs.records,
        session.state.runs.current,
        session.state.intermediate,
        session.state.preview,
        session.state.runs.comparison,
        session.state.activity,
        session.state.view,
    )


def test_opening_finds_what_is_missing(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    assert session.state.source.missing.sources == ("alpha",)
    assert session.state.source.path == files["damaged"]
    assert 0.4 < session.document.mask.mean() < 0.6
    assert session.state.runs.current is None
    assert not is_unsaved(session)


def test_a_whole_picture_opens_and_can_be_damaged(session, qtbot, files, picture) -> None:
    session.opening.open_file(files["whole"])
    settle(session, qtbot)
    assert not session.document.mask.any()
    session.opening.simulate_damage(Damage("random", 0.6, seed=4))
    settle(session, qtbot)
    assert abs(session.document.mask.mean() - 0.6) < 0.01
    assert np.array_equal(session.state.source.reference.pixels, picture.pixels)
    assert not session.state.source.picture.pixels[session.document.mask].any()
    assert session.state.source.path is None, "the damaged picture is no file"
    assert files["whole"] in session.state.source.files, "the source must not be written over"
    first = session.document.mask.copy()
    session.opening.simulate_damage(Damage("scratches"))
    settle(session, qtbot)
    assert np.array_equal(session.state.source.reference.pixels, picture.pixels)
    assert not np.array_equal(session.document.mask, first)
    assert session.complaints == []


def test_the_window_opens_the_sample_that_is_restored_without_a_display() -> None:
    opened, damaged = open_sample(SAMPLES[0]), read_sample(DAMAGED)
    mask = opened.missing.mask
    assert np.array_equal(mask, damaged.alpha == 0)
    assert np.array_equal(opened.picture.pixels[~mask], damaged.pixels[~mask])


@pytest.mark.parametrize("damage", SAMPLES, ids=str)
def test_every_sample_opens_with_its_reference(session, qtbot, damage) -> None:
    session.opening.open_sample(damage)
    settle(session, qtbot)
    assert session.document.mask.any()
    assert session.state.source.reference is not None
    assert session.state.damage_quality.scores.psnr > 0


def test_a_file_that_cannot_be_opened_leaves_everything(session, qtbot, files, tmp_path) -> None:
    opened(session, qtbot, files["damaged"])
    before = snapshot(session)
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n nothing else")
    session.opening.open_file(tmp_path / "broken.png")
    settle(session, qtbot)
    assert snapshot(session) == before
    assert len(session.complaints) == 1


def test_restoring_gives_what_the_library_gives(session, qtbot, files, picture) -> None:
    opened(session, qtbot, files["damaged"], reference=files["whole"])
    session.running.restore()
    settle(session, qtbot)
    mask = session.document.mask
    expected = restore(session.state.source.picture.pixels, mask, FAST)
    record = session.state.runs.current
    assert np.array_equal(record.image, expected.image)
    assert record.settings == expected.settings
    scores = record.figures.scores
    assert scores.psnr == psnr(picture.pixels, record.image)
    assert scores.ssim == ssim(picture.pixels, record.image)
    assert scores.psnr_missing == psnr(picture.pixels, record.image, mask=mask)
    assert record.figures.estimated_psnr is None
    assert is_unsaved(session)
    assert session.state.runs.records == (record,)


def test_a_reference_of_another_size_is_refused(session, qtbot, files, tmp_path) -> None:
    from inpaint_app.io.write import write_picture

    opened(session, qtbot, files["damaged"])
    write_picture(Picture(np.zeros((5, 5), np.uint8)), tmp_path / "small.png")
    session.opening.open_reference(tmp_path / "small.png")
    settle(session, qtbot)
    assert "same size" in session.complaints[0]
    assert session.state.source.reference is None


def test_nothing_missing_is_a_sentence_with_a_way_out(session, qtbot, files) -> None:
    session.opening.open_file(files["whole"])
    settle(session, qtbot)
    session.running.restore()
    settle(session, qtbot)
    assert "Paint over" in session.nothing_marked.sentence
    assert session.state.activity is None
    session.nothing_marked.accept()
    settle(session, qtbot)
    assert session.nothing_marked.sentence == ""
    assert session.state.found is not None, "the damage was looked for"


def test_everything_missing_is_a_sentence_too(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.masking.fill(Rect(0, 0, 72, 96))
    session.running.restore()
    settle(session, qtbot)
    assert "Every pixel is marked as missing" in session.complaints[0]
    assert session.state.activity is None
    assert session.state.runs.current is None


@pytest.mark.parametrize(("name", "n_reports"), [("restore", 0), ("restore", 3), ("compare", 6), ("tune", 1)])
def test_cancelling_at_any_moment_leaves_everything_as_it_was(session, qtbot, files, name, n_reports) -> None:
    restored(session, qtbot, files["damaged"])
    session.set_settings(SLOW)
    session.cancel()  # no preview of it
    settle(session, qtbot)
    before, reports = snapshot(session), []
    getattr(session.running, name)()
    watch(session, "activity", reports.append)
    qtbot.waitUntil(lambda: len(reports) >= n_reports, timeout=600_000)
    assert session.state.activity is not None, "it is in progress"
    session.cancel()
    assert snapshot(session) == before
    settle(session, qtbot)
    assert snapshot(session) == before, "nothing arrives late"
    assert session.complaints == []


def test_stopping_keeps_the_current_result(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"], reference=files["whole"])
    session.set_settings(SLOW)
    watch(session, "intermediate", lambda _image: session.stop())
    session.running.restore()
    settle(session, qtbot)
    assert session.state.runs.current.is_stopped
    assert len(session.state.runs.current.restoration.origins) == session.state.runs.current.settings.n_atoms
    missing = session.document.mask
    observed = session.state.source.picture.pixels[~missing]
    assert np.array_equal(session.state.runs.current.image[~missing], observed)
    assert session.state.runs.current.figures.scores.psnr > session.state.damage_quality.scores.psnr
    assert session.state.activity is None


def test_stopping_before_there_is_anything_shows_nothing(session, qtbot, files) -> None:
    notices = []
    session.document.notice.connect(notices.append)
    opened(session, qtbot, files["damaged"])
    session.running.restore()
    session.stop()
    settle(session, qtbot)
    assert session.state.runs.current is None
    assert "Stopped" in notices[-1]


def test_a_storm_of_parameters_ends_with_the_last_ones(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.set_automatic(True)
    rng = np.random.default_rng(0)
    for _ in range(30):
        session.set_settings(replace(FAST, n_atoms=int(rng.integers(4, 20))))
        qtbot.wait(int(rng.integers(0, 40)))
    session.set_settings(replace(FAST, n_atoms=21))
    settle(session, qtbot)
    assert session.state.runs.current.settings.n_atoms == 21
    shown = [record.settings.n_atoms for record in session.state.runs.records]
    assert shown.count(21) == 1
    assert session.state.intermediate is None
    assert session.complaints == []


def test_a_change_while_restoring_restarts_it(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.running.restore()
    session.set_settings(replace(FAST, n_atoms=9))
    settle(session, qtbot)
    assert session.state.runs.current.settings.n_atoms == 9


def test_a_change_of_parameters_previews_what_is_in_view(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.running.look_at(Rect(10, 20, 32, 40))
    session.set_settings(replace(FAST, sparsity=3))
    settle(session, qtbot)
    preview = session.state.preview
    assert preview.rect == Rect(10, 20, 32, 40)
    observed = ~session.document.mask[preview.rect.slices]
    part = session.state.source.picture.pixels[preview.rect.slices]
    assert np.array_equal(preview.image[observed], part[observed])
    assert session.state.runs.current is None, "a preview is no result"
    session.running.restore()
    settle(session, qtbot)
    assert session.state.preview is None


def test_a_preview_is_seen_before_it_is_refined(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    seen, awaited = [], []
    watch(session, "preview", seen.append)
    watch(session, "is_previewing", awaited.append)
    session.set_settings(replace(FAST, rounds=2))
    assert session.state.is_previewing, "from the change on"
    settle(session, qtbot)
    images = [preview.image for preview in seen if preview is not None]
    pixels, mask = session.state.source.picture.pixels, session.document.mask
    expected = restore(pixels, mask, replace(FAST, rounds=2)).image
    assert np.array_equal(images[-1], expected)
    assert len(images) > 1
    assert not np.array_equal(images[0], expected), "before it is refined"
    assert awaited == [True] * (len(awaited) - 1) + [False]
    session.set_settings(FAST)
    session.stop()
    assert not session.state.is_previewing


def test_looking_elsewhere_lets_the_work_go_on(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.running.look_at(Rect(0, 0, 32, 32))
    session.set_settings(replace(FAST, sparsity=3))
    settle(session, qtbot)
    assert session.state.preview is not None
    session.running.restore()
    session.running.look_at(Rect(40, 60, 32, 32))
    assert session.state.activity is not None
    settle(session, qtbot)
    assert session.state.runs.current is not None
    assert session.state.preview is None


def test_both_constraints_are_compared(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"], reference=files["whole"])
    session.running.compare()
    settle(session, qtbot)
    assert session.state.runs.comparison == (1, 2)
    individual, average = session.state.runs.compared
    pixels, mask = session.state.source.picture.pixels, session.document.mask
    for record, constraint in ((individual, "individual"), (average, "average")):
        expected = restore(pixels, mask, replace(FAST, constraint=constraint))
        assert np.array_equal(record.image, expected.image)
        assert record.figures.scores.psnr is not None
    session.running.restore()
    settle(session, qtbot)
    assert session.state.runs.compared == (), "an older pair is not what is shown"
    session.go_back(1)
    assert session.state.runs.compared == session.state.runs.records[:2]


def test_comparing_makes_nothing_again(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.running.restore()
    settle(session, qtbot)
    average = session.state.runs.current
    for _ in range(2):
        session.running.compare()
        settle(session, qtbot)
        assert session.state.runs.comparison == (2, 1)
        assert session.state.runs.current.number == average.number
        assert len(session.state.runs) == 2
    session.masking.fill(Rect(0, 0, 9, 9))
    session.running.compare()
    settle(session, qtbot)
    assert session.state.runs.comparison == (3, 4), "another mask"
    assert session.complaints == []


def test_auto_says_what_it_chose_and_why_and_restores_with_it(session, qtbot, files, few_trials) -> None:
    opened(session, qtbot, files["damaged"])
    session.set_settings(replace(FAST, n_atoms=2, coding_sparsity=1))
    session.running.tune()
    settle(session, qtbot)
    settings = session.state.runs.current.settings
    assert unbroken(f"k = {settings.n_atoms}") in session.state.advice.sentence
    assert "dB more than with your settings" in session.state.advice.sentence
    assert session.state.settings.n_atoms == settings.n_atoms > 2
    session.running.tune()
    settle(session, qtbot)
    assert "already the best" in session.state.advice.sentence
    assert session.state.settings.n_atoms == settings.n_atoms
    session.set_settings(replace(session.state.settings, n_atoms=5))
    assert session.state.advice is None, "it is the user's own choice now"


def test_going_back_shows_an_earlier_run_with_its_parameters(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    preset = RestoreSettings.preset("fast")
    session.set_settings(preset)
    session.running.restore()
    settle(session, qtbot)
    first = session.state.runs.current
    session.set_settings(replace(FAST, n_atoms=5))
    session.running.restore()
    settle(session, qtbot)
    assert session.state.runs.current.number == 2
    session.go_back(1)
    assert session.state.runs.current.number == 1
    assert session.state.runs.current.image is first.image
    assert session.state.settings == preset, "as asked for"
    assert session.state.runs.current.settings.n_atoms > 0, "as used"
    settle(session, qtbot)
    assert session.state.preview is None, "looking back is no change"


def test_looking_back_lets_the_run_go_on(session, qtbot, files) -> None:
    restored(session, qtbot, files["damaged"])
    slow, shown = RestoreSettings(n_atoms=9, rounds=3), []
    session.set_settings(slow)

    def look_back(intermediate) -> None:
        if intermediate is None:
            return
        session.go_back(1)
        assert session.state.activity is not None
        shown.append((session.state.runs.current.number, session.state.intermediate, session.state.settings))

    watch(session, "intermediate", look_back)
    session.running.restore()
    settle(session, qtbot)
    assert shown == [(1, None, slow)], "the earlier run stays in sight meanwhile"
    assert session.state.runs.current.number == 2
    assert session.state.runs.current.settings.n_atoms == 9
    session.go_back(1)
    assert session.state.settings == session.state.runs.current.requested


def test_painting_then_undoing_gives_the_same_mask(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    before = session.document.mask.copy()
    rng = np.random.default_rng(5)
    for number in range(12):
        row, column = rng.uniform(0, 70, 2)
        session.masking.begin_stroke(row, column, diameter=7, missing=number % 2 == 0)
        for _ in range(5):
            session.masking.extend_stroke(*rng.uniform(-5, 90, 2))
        session.masking.end_stroke()
    session.masking.invert()
    assert not np.array_equal(session.document.mask, before)
    assert is_unsaved(session)
    while session.history.can_undo:
        session.history.undo()
    assert np.array_equal(session.document.mask, before)
    assert not is_unsaved(session)
    settle(session, qtbot)


def test_a_mask_file_and_a_color_mark_missing_pixels(session, qtbot, files) -> None:
    session.set_settings(FAST)
    session.opening.open_file(files["whole"], MaskSpec(mask=files["mask"]))
    settle(session, qtbot)
    assert session.state.source.missing.sources == ("mask",)
    share = session.document.mask.mean()
    session.opening.set_mask_spec(MaskSpec(mask=files["mask"], invert_mask=True))
    settle(session, qtbot)
    assert session.document.mask.mean() == pytest.approx(1 - share)
    assert not is_unsaved(session), "the file has it"
    session.history.undo()
    assert session.document.mask.mean() == share
    assert not is_unsaved(session)
    session.opening.set_mask_spec(MaskSpec(key="1,2,3"))
    settle(session, qtbot)
    assert len(session.complaints) == 1


@pytest.mark.parametrize(
    "mask_spec", [{"key": "200", "tolerance": 30.0}, {"mask": True}, {"mask": True, "invert_mask": True}]
)
def test_a_recipe_brings_its_marks(session, qtbot, files, tmp_path, mask_spec) -> None:
    if "mask" in mask_spec:
        mask_spec = mask_spec | {"mask": files["mask"]}
    (tmp_path / "recipes").mkdir()
    recipe = tmp_path / "recipes" / "recipe.json"
    save_recipe(recipe, FAST, MaskSpec(**mask_spec), ())
    session.opening.open_file(files["whole"], MaskSpec(**mask_spec))
    settle(session, qtbot)
    expected = session.document.mask.copy()
    session.opening.open_file(files["whole"])
    settle(session, qtbot)
    assert not session.document.mask.any()
    session.opening.open_recipe(recipe)
    settle(session, qtbot)
    assert session.complaints == []
    assert session.state.settings == FAST
    assert (session.document.mask == expected).all()
    assert session.state.source.mask_spec.tolerance == mask_spec.get("tolerance")
    session.history.undo()
    assert not session.document.mask.any()


def test_a_recipe_without_marks_leaves_the_mask(session, qtbot, files, tmp_path) -> None:
    recipe = tmp_path / "recipe.json"
    save_recipe(recipe, FAST, MaskSpec(), ("alpha",))
    session.opening.open_file(files["whole"], MaskSpec(mask=files["mask"]))
    settle(session, qtbot)
    before = session.document.mask.copy()
    session.opening.open_recipe(recipe)
    settle(session, qtbot)
    assert session.state.settings == FAST
    assert (session.document.mask == before).all()
    assert session.state.source.mask_spec == MaskSpec(mask=files["mask"])


def test_without_a_picture_the_marks_of_a_recipe_are_spoken_of(session, qtbot, tmp_path) -> None:
    told = []
    session.document.notice.connect(told.append)
    save_recipe(tmp_path / "recipe.json", FAST, MaskSpec(key="0"), ())
    session.opening.open_recipe(tmp_path / "recipe.json")
    settle(session, qtbot)
    assert session.state.settings == FAST
    assert "open it again" in told[0]
    assert session.complaints == []


BAD_RECIPES = {
    "settings": {"patch_size": 96},
    "mean_sparsity": {"mean_sparsity": 1e308},
    "rounds": {"rounds": 10**9},
    "digits": {"seed": 10**401},
    "surrogate": {"constraint": "\ud800"},
    "flag": {"keep_observed": "no"},
    "basis": {"bases": ["foo"]},
    "mask": {},
}


@pytest.mark.parametrize("name", BAD_RECIPES)
def test_a_bad_recipe_leaves_everything_and_the_next_one_works(session, qtbot, files, tmp_path, name) -> None:
    opened(session, qtbot, files["damaged"])
    before = snapshot(session)
    mask = {"file": "nowhere.png"} if name == "mask" else {}
    settings = {"n_atoms": 5} | BAD_RECIPES[name]
    contents = {"recipe": 1, "version": "1", "settings": settings, "mask": mask}
    (tmp_path / "bad.json").write_text(json.dumps(contents))
    session.opening.open_recipe(tmp_path / "bad.json")
    settle(session, qtbot)
    assert len(session.complaints) == 1
    assert "inside the program" not in session.complaints[0]
    assert session.complaints[0].isprintable()
    assert snapshot(session) == before
    save_recipe(tmp_path / "good.json", replace(FAST, n_atoms=6), MaskSpec(), ())
    session.opening.open_recipe(tmp_path / "good.json")
    settle(session, qtbot)
    assert session.state.settings.n_atoms == 6
    session.cancel()
    assert len(session.complaints) == 1


def test_opening_another_picture_drops_the_run_in_progress(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.running.restore()
    session.opening.open_file(files["whole"])
    settle(session, qtbot)
    assert session.state.runs.current is None
    assert session.state.runs.records == ()
    assert session.state.source.path == files["whole"]


@pytest.mark.parametrize(
    ("color", "found"), [((255, 0, 255), True), ((0, 255, 0), True), ((250, 0, 250), False)]
)
def test_a_color_that_marks_pixels_is_found_by_itself(
    session, qtbot, tmp_path, picture, color, found
) -> None:
    from inpaint_app.io.write import write_picture

    notices = []
    session.document.notice.connect(notices.append)
    pixels = np.repeat(picture.pixels[..., None], 3, axis=2)
    pixels[10:20, 10:30] = color
    write_picture(Picture(pixels), tmp_path / "marked.png")
    session.opening.open_file(tmp_path / "marked.png")
    settle(session, qtbot)
    assert session.document.mask.sum() == (200 if found else 0)
    assert session.state.source.missing.sources == (("key",) if found else ())
    assert bool(notices) is found


def test_gray_pictures_have_no_marking_color(session, qtbot, files) -> None:
    session.opening.open_file(files["whole"])
    settle(session, qtbot)
    assert session.state.source.mask_spec == MaskSpec()


def test_a_comparison_is_left_with_a_result_beyond_it_and_when_it_is_cancelled(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.document.set_view(session.state.view.with_mode(SPLIT))
    session.running.compare()
    assert session.state.view.mode is COMPARISON
    session.cancel()
    assert session.state.view.mode is SPLIT, "the mode before"
    session.running.compare()
    settle(session, qtbot)
    assert session.state.view.mode is COMPARISON
    session.set_settings(replace(FAST, n_atoms=5))
    session.running.restore()
    settle(session, qtbot)
    assert session.state.view.mode is SPLIT
    session.document.set_view(session.state.view.with_mode(COMPARISON))
    session.go_back(1)
    assert session.state.view.mode is COMPARISON, "that run is part of one"


def test_a_restarted_comparison_leaves_the_view_alone(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.running.compare()
    session.document.set_view(session.state.view.with_mode(SPLIT))
    session.set_settings(replace(FAST, n_atoms=5))
    settle(session, qtbot)
    assert len(session.state.runs.compared) == 2
    assert session.state.view.mode is SPLIT


def test_another_view_is_told_once(session) -> None:
    told = []
    watch(session, "view", lambda view: told.append(view.mode))
    for _ in range(2):
        session.document.set_view(session.state.view.with_mode(SPLIT))
    assert told == [SPLIT]


def test_the_mask_grows_and_shrinks_by_a_pixel(session, qtbot, files) -> None:
    opened(session, qtbot, files["whole"])
    session.masking.fill(Rect(10, 20, 4, 5))
    for pixels, rows, columns in ((1, slice(9, 15), slice(19, 26)), (-1, slice(10, 14), slice(20, 25))):
        session.masking.resize(pixels)
        settle(session, qtbot)
        expected = np.zeros(session.document.mask.shape, bool)
        expected[rows, columns] = True
        assert np.array_equal(session.document.mask, expected)
    session.history.undo()
    assert session.document.mask[9, 19]


def test_mask_and_parameters_are_undone_in_the_order_in_which_they_changed(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    assert not session.history.can_undo, "what came before another picture is not undone"
    masks = [session.document.mask.copy()]
    session.masking.fill(Rect(0, 0, 9, 9))
    session.set_settings(replace(FAST, n_atoms=5))
    session.set_automatic(True)
    session.masking.clear()
    session.history.undo()
    assert session.document.mask[:9, :9].all()
    session.history.undo()
    assert not session.state.is_automatic
    session.history.undo()
    assert session.state.settings == FAST
    session.history.undo()
    assert np.array_equal(session.document.mask, masks[0])
    for _ in range(4):
        session.history.redo()
    assert (session.state.settings.n_atoms, session.state.is_automatic) == (5, True)
    assert not session.document.mask.any()
    session.set_automatic(False)
    settle(session, qtbot)
    assert session.complaints == []


def test_undo_brings_back_what_marked_the_missing_pixels(session, qtbot, files) -> None:
    session.opening.open_sample()
    settle(session, qtbot)
    before, spec = session.document.mask.copy(), session.state.source.mask_spec
    session.opening.mark_color_of(10, 10)
    settle(session, qtbot)
    assert session.state.source.mask_spec.key is not None
    session.history.undo()
    assert session.state.source.mask_spec == spec
    assert np.array_equal(session.document.mask, before)
    session.history.redo()
    assert session.state.source.mask_spec.key is not None
    settle(session, qtbot)


def test_one_undo_leaves_an_earlier_run(session, qtbot, files) -> None:
    restored(session, qtbot, files["damaged"])
    session.masking.fill(Rect(0, 0, 20, 20))
    session.set_settings(replace(FAST, n_atoms=5))
    painted = session.document.mask.copy()
    session.go_back(1)
    assert session.state.settings == FAST
    session.history.undo()
    assert session.state.settings.n_atoms == 5
    assert np.array_equal(session.document.mask, painted)
    settle(session, qtbot)


def test_clearing_leaves_nothing_of_what_was_given(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.masking.clear()
    assert session.state.mask.origin == MaskOrigin(is_given=False)
    session.masking.fill(Rect(0, 0, 9, 9))
    assert session.state.mask.origin == MaskOrigin(is_given=False, is_painted=True)


def test_going_back_within_a_stroke_ends_the_stroke(session, qtbot, files) -> None:
    restored(session, qtbot, files["damaged"])
    before = session.document.mask.copy()
    session.masking.fill(Rect(0, 0, 20, 20))
    session.masking.begin_stroke(50, 50, diameter=20)
    session.go_back(1)
    assert np.array_equal(session.document.mask, before)
    session.history.undo()
    assert session.document.mask[50, 45:55].all(), "the stroke is a step of its own"
    assert np.array_equal(session.document.mask, session.state.mask.unpack())
    settle(session, qtbot)


def test_parameters_belong_to_a_picture(session, qtbot, files) -> None:
    session.set_settings(FAST)  # before the first picture, they are those that it begins with
    session.opening.open_file(files["damaged"])
    settle(session, qtbot)
    assert session.state.settings == FAST
    session.opening.open_file(files["whole"])
    settle(session, qtbot)
    assert session.state.settings == session.document.defaults == RestoreSettings()


def test_parameters_are_reset_in_one_step(session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    session.set_settings(replace(FAST, n_atoms=11))
    changed = replace(FAST, n_atoms=11, sparsity=3)
    session.set_settings(changed)
    session.reset_settings()
    assert session.state.settings == FAST
    session.history.undo()
    assert session.state.settings == changed
    settle(session, qtbot)
