"""Finding damage: the mask follows the choice, in one step of undo."""

import re
from dataclasses import replace

import numpy as np
import pytest
from windows import FAST, restored, settle, watch

from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Picture, Rect
from inpaint_app.window.canvas.tools.found_damage_picker import FoundDamagePicker
from inpaint_app.window.canvas.tools.tool import Place


@pytest.fixture
def scratched(session, qtbot):
    """A session on a picture with a bright line in row 40 and a dark one in column 90."""
    pixels = np.random.default_rng(0).normal(110, 3, (96, 128))
    pixels[40, 10:80] += 90
    pixels[10:90, 90] -= 90
    session.set_settings(FAST)
    session.opening.open_picture(lambda: Picture(pixels.astype(np.uint8)), "scratched")
    settle(session, qtbot)
    return session


def found(session, qtbot):
    session.find_damage(("scratches",))
    settle(session, qtbot)
    return session


def test_found_damage_is_in_the_mask_and_undone_in_one_step(scratched, qtbot) -> None:
    found(scratched, qtbot)
    assert scratched.document.mask[40, 20:70].all()
    assert scratched.document.mask[20:80, 90].all()
    assert scratched.state.view.tool == "pick"
    assert scratched.state.mask.origin.is_detected
    for sensitivity in (0.2, 0.9, 0.5):
        scratched.finding.choose(replace(scratched.state.choice, sensitivity=sensitivity))
        settle(scratched, qtbot)
    scratched.history.undo()
    assert not scratched.document.mask.any()
    assert scratched.complaints == []


def test_a_click_removes_a_region_and_another_brings_it_back(scratched, qtbot) -> None:
    found(scratched, qtbot)
    notices = []
    scratched.document.notice.connect(notices.append)
    picker = FoundDamagePicker(scratched)
    for is_there in (False, True):
        picker.press(Place(41.2, 30.5))
        picker.release()
        settle(scratched, qtbot)
        assert scratched.document.mask[40, 20:70].all() == is_there
        assert scratched.document.mask[20:80, 90].all()
    assert notices == []
    picker.press(Place(5.5, 5.5))
    picker.release()
    assert len(notices) == 1


def test_what_is_painted_stays_when_the_choice_changes(scratched, qtbot) -> None:
    found(scratched, qtbot)
    scratched.masking.begin_stroke(70.5, 20.5, diameter=5)
    settle(scratched, qtbot)
    scratched.finding.choose(replace(scratched.state.choice, kinds=()))
    settle(scratched, qtbot)
    assert scratched.document.mask[70, 20]
    assert not scratched.document.mask[40].any()


def test_a_kind_that_is_ticked_later_is_looked_for_then(scratched, qtbot) -> None:
    found(scratched, qtbot)
    before = scratched.document.mask.copy()
    scratched.finding.choose(replace(scratched.state.choice, kinds=("scratches", "dead_lines")))
    assert scratched.state.activity.kind == "detect"
    settle(scratched, qtbot)
    assert set(scratched.state.found.analysis.kinds) == {"scratches", "dead_lines"}
    assert (scratched.document.mask >= before).all()


def test_a_cancelled_search_changes_nothing(scratched, qtbot) -> None:
    scratched.find_damage(("scratches",))
    scratched.cancel()
    settle(scratched, qtbot)
    assert (scratched.state.found, scratched.state.activity) == (None, None)
    assert not scratched.history.can_undo


def test_another_picture_forgets_what_was_found(scratched, qtbot) -> None:
    found(scratched, qtbot)
    scratched.opening.open_sample()
    settle(scratched, qtbot)
    assert scratched.state.found is None


def test_no_kind_is_a_sentence(scratched) -> None:
    scratched.find_damage(())
    assert len(scratched.complaints) == 1


def test_the_choice_follows_undo_and_redo(scratched, qtbot) -> None:
    found(scratched, qtbot)
    first = scratched.state.choice
    scratched.masking.fill(Rect(70, 20, 4, 4))
    scratched.finding.choose(replace(first, sensitivity=0.9))
    settle(scratched, qtbot)
    scratched.history.undo()
    assert (scratched.state.choice, scratched.state.marked is not None) == (first, True)
    for _ in range(2):
        scratched.history.undo()
    assert not scratched.state.marked is not None
    assert not scratched.finding.toggle(40, 30), "it is not in the mask"
    for _ in range(3):
        scratched.history.redo()
    assert scratched.state.choice.sensitivity == 0.9
    assert scratched.state.marked is not None


def test_undo_wins_over_a_choice_that_is_not_in_the_mask_yet(scratched, qtbot) -> None:
    found(scratched, qtbot)
    scratched.finding.choose(replace(scratched.state.choice, sensitivity=0.9))
    scratched.history.undo()
    settle(scratched, qtbot)
    assert not scratched.document.mask.any()


def test_what_is_painted_after_undo_stays_when_damage_is_found_again(scratched, qtbot) -> None:
    found(scratched, qtbot)
    scratched.history.undo()
    scratched.masking.fill(Rect(38, 20, 5, 20))
    found(scratched, qtbot)
    scratched.finding.choose(replace(scratched.state.choice, kinds=()))
    settle(scratched, qtbot)
    assert scratched.document.mask[38:43, 20:40].all()
    assert scratched.document.mask.sum() == 100


def test_another_mask_holds_nothing_that_was_found(scratched, qtbot) -> None:
    found(scratched, qtbot)
    scratched.opening.set_mask_spec(MaskSpec(key="#6e6e6e", tolerance=1.0))
    settle(scratched, qtbot)
    assert not scratched.state.marked is not None
    scratched.history.undo()
    assert scratched.state.marked is not None


def test_finding_nothing_leaves_the_result_as_it_is(session, qtbot, files) -> None:
    restored(session, qtbot, files["damaged"])
    session.find_damage(("dead_lines",))
    settle(session, qtbot)
    assert session.state.marked is not None
    assert session.state.preview is None


def draw(picker, *places) -> None:
    picker.press(Place(*places[0]))
    for place in places[1:]:
        picker.move(Place(*place))
    picker.release()


def test_a_line_around_marks_removes_them_and_the_right_button_brings_them_back(scratched, qtbot) -> None:
    found(scratched, qtbot)
    around = (30.0, 5.0), (30.0, 84.0), (50.0, 84.0), (50.0, 5.0)
    picker = FoundDamagePicker(scratched)
    for is_reversed in (False, True):
        picker.is_reversed = is_reversed
        draw(picker, *around)
        settle(scratched, qtbot)
        assert scratched.document.mask[40, 20:70].all() == is_reversed
        assert scratched.document.mask[20:80, 90].all()


def test_with_shift_only_what_is_drawn_around_counts(scratched, qtbot) -> None:
    found(scratched, qtbot)
    picker = FoundDamagePicker(scratched)
    picker.is_straight = True
    draw(picker, (30.0, 5.0), (30.0, 50.0), (50.0, 50.0), (50.0, 5.0))
    settle(scratched, qtbot)
    assert scratched.document.mask[40, 20:48].all()
    assert not scratched.document.mask[:, 52:].any()
    scratched.finding.choose(replace(scratched.state.choice, within=None))
    settle(scratched, qtbot)
    assert scratched.document.mask[20:80, 90].all()


def test_only_light_or_only_dark_damage_counts(scratched, qtbot) -> None:
    found(scratched, qtbot)
    for tone, is_light in (("light", True), ("dark", False)):
        scratched.finding.choose(replace(scratched.state.choice, tone=tone))
        settle(scratched, qtbot)
        assert scratched.document.mask[40, 20:70].all() == is_light
        assert scratched.document.mask[20:36, 90].all() != is_light


def test_marks_are_gone_through_and_removed_one_by_one(scratched, qtbot) -> None:
    found(scratched, qtbot)
    marks, boxes = scratched.finding, []
    marks.mark_shown.connect(lambda *box: boxes.append(box))
    order = scratched.state.found.in_reading_order(scratched.state.choice)
    assert len(order) > 1
    for number in (*order, order[0]):
        marks.step(1)
        assert scratched.state.mark == number
    marks.step(-1)
    assert scratched.state.mark == order[-1]
    assert marks.place.startswith(f"{len(order)} of {len(order)}")
    assert len(boxes) == len(order) + 2
    marks.remove()
    settle(scratched, qtbot)
    assert order[-1] in scratched.state.choice.removed
    assert scratched.state.mark == order[0]
    scratched.history.undo()
    assert scratched.state.mark is None, "nothing is marked any more"
    marks.step(1)
    assert (scratched.state.mark, marks.place) == (None, "")


def test_the_mark_near_the_pointer_is_outlined(scratched, qtbot) -> None:
    found(scratched, qtbot)
    picker = FoundDamagePicker(scratched)
    outline = picker.outline(Place(42.5, 30.5)).boundingRect()
    assert outline.contains(20, 40)
    assert outline.contains(69, 41)
    assert picker.outline(Place(70.5, 30.5)) is None
    picker.reach = 31
    assert picker.outline(Place(70.5, 30.5)) is not None
    assert re.match(r"crack or scratch (0\.[5-9]|1\.0)", scratched.finding.describe_at(40, 30))
    assert scratched.finding.describe_at(70, 30) == ""


def test_large_pictures_show_what_is_in_view_first(scratched, qtbot) -> None:
    pixels = np.tile(scratched.state.source.picture.pixels, (20, 16))
    scratched.opening.open_picture(lambda: Picture(pixels), "large")
    settle(scratched, qtbot)
    scratched.running.look_at(Rect(960, 1024, 300, 400))
    looks = []
    watch(scratched, "first_look", looks.append)
    found(scratched, qtbot)
    assert looks[-1] is None
    assert (looks[0].rect, looks[0].step) == (Rect(960, 1024, 300, 400), 1)
    assert looks[0].damaged[40, 20:70].all()
    seen = looks[0].added_to(np.zeros(pixels.shape, bool))
    assert seen[1000, 1044:1094].all()
    assert not seen[:960].any()
    assert scratched.document.mask[40, 20:70].all()
