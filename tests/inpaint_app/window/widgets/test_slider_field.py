"""A number with slider and box."""

import pytest
from gestures import SHIFT, double_click, wheel
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDoubleSpinBox, QLabel, QSlider

from inpaint_app.window.widgets.sliders import Quantity, SliderField

ATOMS = Quantity(label="Dictionary &size k", minimum=1, maximum=200, default=40, tooltip="How many atoms.")
BUDGET = Quantity(label="Average", minimum=0.5, maximum=8, default=3, step=0.1, decimals=1)
ROUNDS = Quantity(label="Rounds", minimum=0, maximum=12, default=None)


@pytest.fixture
def field(qtbot, request):
    made = SliderField(getattr(request, "param", ATOMS))
    qtbot.addWidget(made)
    made.told = []
    made.value_changed.connect(made.told.append)
    made.show()
    qtbot.waitExposed(made)
    return made


def box(field) -> QDoubleSpinBox:
    return field.findChild(QDoubleSpinBox)


def slider(field) -> QSlider:
    return field.findChild(QSlider)


def test_slider_and_box_agree(field):
    slider(field).setValue(99)
    assert (field.value, box(field).value()) == (100, 100)
    box(field).setValue(7)
    assert (field.value, slider(field).value()) == (7, 6)
    assert field.told == [100, 7]
    assert all(isinstance(value, int) for value in field.told)


def test_setters_tell_nobody(field):
    field.set_value(77)
    field.set_bounds(1, 50)
    field.set_automatic(20)
    assert field.told == []


@pytest.mark.parametrize("field", [BUDGET], indirect=True)
def test_floats_go_in_steps(field):
    slider(field).setValue(13)
    assert field.told == [1.8]
    box(field).setValue(2.25)
    assert field.value == pytest.approx(2.25, abs=0.051)


def test_typing_counts_when_it_is_finished(field):
    box(field).selectAll()
    QTest.keyClicks(box(field), "120")
    assert field.told == []
    QTest.keyClick(box(field), Qt.Key.Key_Return)
    assert field.told == [120]


@pytest.mark.parametrize("part", [QLabel, QSlider])
def test_double_click_resets(field, part):
    field.set_value(90)
    double_click(field.findChild(part))
    assert field.value == 40
    assert field.told[-1] == 40
    assert field.findChildren(QSlider)[0].value() == 39


def test_wheel_scrolls_what_is_around_unless_shift_is_held(field):
    for part in (slider(field), box(field)):
        field.set_value(40)
        assert not wheel(part, -1)
        assert field.value == 40
        assert wheel(part, -2, keys=SHIFT)
        assert field.value == 38


@pytest.mark.parametrize("field", [ROUNDS], indirect=True)
def test_automatic_is_shown_in_words_and_left_by_moving(field):
    assert field.value is None
    assert box(field).text() == "auto"
    field.set_automatic(5)
    assert box(field).text() == "auto (5)"
    assert slider(field).value() == 5
    slider(field).setValue(8)
    assert field.value == 8
    assert box(field).text() == "8"
    field.reset()
    assert field.value is None
    assert field.told == [8, None]


@pytest.mark.parametrize("field", [ROUNDS], indirect=True)
def test_box_reaches_automatic_below_the_minimum(field):
    field.set_value(0)
    box(field).stepDown()
    assert field.told == [None]


def test_a_field_that_cannot_be_automatic_ends_at_its_minimum(field):
    field.set_value(1)
    box(field).stepDown()
    assert field.value == 1
    assert field.told == []


def test_bounds_bring_the_value_between_them(field):
    field.set_bounds(1, 25)
    assert field.value == 25
    assert box(field).maximum() == 25
    field.set_value(1000)
    assert field.value == 25


def test_names_for_screen_readers_and_sentences_for_the_pointer(field):
    assert box(field).accessibleName() == "Dictionary size k"
    assert slider(field).accessibleName() == "Dictionary size k, slider"
    assert slider(field).toolTip() == box(field).toolTip() == "How many atoms."
    assert field.findChild(QLabel).buddy() is box(field)


@pytest.mark.parametrize(
    "field", [Quantity(label="Rounds", minimum=0, maximum=100, default=3, usual=(2, 12))], indirect=True
)
def test_beyond_the_slider_a_number_can_be_typed(field):
    box(field).setValue(50)
    assert (field.value, slider(field).value()) == (50, slider(field).maximum())
    box(field).setValue(1)
    assert (field.value, slider(field).value()) == (1, 0)
    slider(field).setValue(slider(field).maximum())
    assert field.value == 12
    slider(field).setValue(0)
    assert field.told == [50, 1, 12, 2]
