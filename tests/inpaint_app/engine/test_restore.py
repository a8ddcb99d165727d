"""Which images a restoration in progress renders."""

import numpy as np

from dictsel_core import RestoreSettings
from inpaint_app.engine import restore as jobs
from inpaint_app.engine.control import JobControl
from inpaint_app.model.picture import Rect


def a_request(rounds):
    rows, columns = np.mgrid[:48, :40]
    pixels = (100 + 60 * np.sin(0.4 * rows + 0.3 * columns)).astype(np.uint8)
    mask = np.random.default_rng(0).random(pixels.shape) < 0.4
    return jobs.RestoreRequest(pixels, mask, RestoreSettings(n_atoms=8, rounds=rounds))


def test_rendering_takes_a_small_part_of_the_time_and_stopping_keeps_the_latest_image(monkeypatch):
    monkeypatch.setattr(jobs, "_IMAGE_PAUSE", np.inf)
    images = []

    def on_report(report):
        if isinstance(report, jobs.IntermediateImage):
            images.append(report.image)
        elif images and report.fraction > 0.7:
            control.stop()

    monkeypatch.setattr("inpaint_app.engine.control._REPORT_INTERVAL", 0)
    control = JobControl(on_report)
    result = jobs.restore(a_request(rounds=3), control)
    assert len(images) == 1
    assert result.is_stopped
    assert result.restoration.n_rounds >= 1


def test_a_preview_is_shown_once_patches_are_coded_and_after_each_round():
    shown = []
    last = jobs.preview(a_request(rounds=2), Rect(0, 0, 48, 40), JobControl(shown.append))
    assert len(shown) == 3
    assert (shown[-1].image == last.image).all()
    assert (shown[0].image != last.image).any()
