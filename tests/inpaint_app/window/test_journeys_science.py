"""A researcher's journeys: a sweep, errors with sign and scale, a region, and what refinement hides."""

from dataclasses import replace

import numpy as np
import pytest
from gestures import drag, press
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QPushButton, QSpinBox
from windows import FAST, at, choose, find, restored, settle, texts, trigger

from dictsel_core import RestoreSettings, psnr
from inpaint_app.window.dialogs.sweep_dialog import SweepDialog


@pytest.fixture
def measured(window, qtbot, files):
    """A window with a damaged picture, its original and a run."""
    return restored(window, qtbot, files["damaged"], reference=files["whole"])


def test_a_sweep_is_drawn_and_a_click_takes_the_parameter(measured, qtbot) -> None:
    trigger(measured, "sweep")
    dialog = measured.findChild(SweepDialog)
    choose(find(dialog, QComboBox, "Parameter"), 0)
    for name, value in (("First value", 2), ("Last value", 32)):
        find(dialog, QDoubleSpinBox, name).setValue(value)
    find(dialog, QSpinBox, "Number of values").setValue(3)
    find(dialog, QPushButton, "Start").click()
    assert measured.session.state.activity.kind == "sweep"
    settle(measured, qtbot)
    sweep = measured.session.state.sweep
    assert [point.value for point in sweep.points] == [2, 8, 32]
    assert sweep.is_true
    assert "whole picture" in texts(dialog)
    press(dialog.curve, dialog.curve.place(2))
    assert measured.session.state.settings == replace(FAST, n_atoms=32)
    trigger(measured, "undo")
    assert measured.session.state.settings == FAST
    dialog.close()
    settle(measured, qtbot)


def test_a_sweep_can_be_cancelled(measured, qtbot) -> None:
    measured.session.sweeping.start("rounds", 0, 6, 7)
    measured.session.cancel()
    settle(measured, qtbot)
    assert measured.session.state.activity is None
    assert len(measured.session.state.sweep.points) < 7


def test_errors_have_a_gain_a_sign_and_a_scale(measured, qtbot) -> None:
    trigger(measured, "view error")
    settle(measured, qtbot)
    content = measured.viewer.panes["error"].canvas.content
    assert content.scale[1:] == (0, 255 / 4)
    find(measured, QDoubleSpinBox, "Gain of the error map").setValue(10)
    find(measured, QCheckBox, "Sign of errors").setChecked(True)
    settle(measured, qtbot)
    content = measured.viewer.panes["error"].canvas.content
    assert content.scale == ("signed", -25.5, 25.5)
    words = content.pyramid.images[0]
    colors = {words.pixel(x, y) & 0xFFFFFF for x in range(20) for y in range(20)}
    assert any((color >> 16) > (color & 0xFF) for color in colors), "too bright is red"
    assert any((color >> 16) < (color & 0xFF) for color in colors), "too dark is blue"


def test_a_region_is_measured_for_all_runs(measured, qtbot) -> None:
    session = measured.session
    trigger(measured, "region")
    canvas, beside = (measured.viewer.panes[name].canvas for name in ("restored", "damaged"))
    before = beside.grab().toImage()
    corners = ((10, 10), (10, 40), (40, 40), (40, 10))
    drag(canvas, *(at(canvas, *corner) for corner in corners))
    settle(measured, qtbot)
    reference, image = session.state.source.reference.pixels, session.state.runs.current.image
    expected = psnr(reference[10:40, 10:40], image[10:40, 10:40], data_range=255)
    assert session.state.region.psnr[1] == pytest.approx(expected, abs=0.5)
    assert beside.grab().toImage() != before, "every picture shows the region"
    session.set_settings(replace(FAST, n_atoms=4))
    trigger(measured, "restore")
    settle(measured, qtbot)
    assert set(session.state.region.psnr) == {None, 1, 2}
    drag(canvas, at(canvas, 10, 10))
    assert session.state.region is None


def test_a_region_needs_the_original(window, qtbot, files) -> None:
    notices = []
    window.session.document.notice.connect(notices.append)
    restored(window, qtbot, files["damaged"])
    window.session.measuring.measure_region((0, 0, 4, 4), np.ones((4, 4), bool))
    assert "Ctrl+R" in notices[-1]
    assert window.session.state.region is None


def test_preview_and_run_are_compared_on_the_same_pixels(measured, qtbot) -> None:
    session = measured.session
    session.set_settings(replace(FAST, n_atoms=4))
    settle(measured, qtbot)
    preview, reference = session.state.preview, session.state.source.reference.pixels
    run = session.state.runs.current.image
    expected = psnr(reference[preview.rect.slices], run[preview.rect.slices], data_range=255)
    assert preview.run_psnr == pytest.approx(expected)
    assert f"run 1 in the square: {expected:.2f} dB" in measured.viewer.display.panes["restored"].caption[0]


def test_compared_constraints_offer_the_procedure_of_the_paper(measured, qtbot) -> None:
    session = measured.session
    session.set_settings(replace(FAST, rounds=1))
    trigger(measured, "compare")
    settle(measured, qtbot)
    bar = next(bar for bar in measured.offers if "Refinement hides" in bar.text)
    assert "dB" in bar.text
    find(bar, QPushButton, "Compare as in the Paper").click()
    settle(measured, qtbot)
    assert session.state.settings == RestoreSettings.preset("paper")
    assert bar.text == "", "nothing is hidden any more"
    assert {record.requested.constraint for record in session.state.runs.compared} == {
        "average",
        "individual",
    }
