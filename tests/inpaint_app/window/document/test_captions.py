"""Captions of pictures and entries of lists."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dictsel_core import Restoration, RestoreSettings
from dictsel_core.evaluation import QualityEstimate
from inpaint_app.engine.control import Progress
from inpaint_app.engine.measure import QualityMetrics, Scores
from inpaint_app.model.masks import PackedMask
from inpaint_app.window.background.work import Activity
from inpaint_app.window.document import captions
from inpaint_app.window.document.captions import short_quality
from inpaint_app.window.document.runs import RunRecord

ESTIMATE = QualityEstimate(30.0, 28.5, 31.5, 255.0, 100, 0.0, n_invented=0)
UNKNOWN = QualityEstimate(math.nan, math.nan, math.nan, 255.0, 100, 0.5, n_invented=400)
MEASURED = QualityMetrics(Scores(31.234, 28.1, 0.91239, None))


@pytest.fixture
def record() -> RunRecord:
    image = np.zeros((4, 4), np.uint8)
    restoration = Restoration(
        image, RestoreSettings(), 0.5, None, np.zeros((0, 2), np.intp), np.zeros(0, np.intp), 0, 0, {}
    )
    return RunRecord(1, RestoreSettings(), PackedMask.pack(np.zeros((4, 4), bool)), 1.0, image, restoration)


def test_the_caption_of_a_result_has_all_its_figures_and_fewer_words_for_less_room(record) -> None:
    forms = captions.restored_caption(replace(record, figures=MEASURED, is_stopped=True))
    assert forms[0] == "PSNR 31.23 dB (missing pixels 28.10 dB)   SSIM 0.9124   1.0 s   stopped early"
    assert [len(form) for form in forms] == sorted(map(len, forms), reverse=True)
    assert all("31.23 dB" in form and "0.9124" in form for form in forms)


def test_figures_to_come_are_announced_and_estimates_are_marked(record) -> None:
    assert captions.restored_caption(record)[0] == "measuring …   1.0 s"
    estimated = replace(record, figures=QualityMetrics(estimate=ESTIMATE))
    caption = "PSNR ≈ 30.00 dB at missing pixels (28.5 to 31.5 dB)   1.0 s"
    assert captions.restored_caption(estimated)[0] == caption
    partly = replace(record, figures=QualityMetrics(estimate=replace(ESTIMATE, n_invented=1234)))
    caption = captions.restored_caption(partly)[0]
    assert "at narrow damage, without 1,234 invented pixels of wide holes (28.5" in caption
    unknown = replace(record, figures=QualityMetrics(estimate=UNKNOWN))
    assert captions.restored_caption(unknown)[0] == "wide hole: invented, no PSNR   1.0 s"
    assert "PSNR not known" in captions.restored_caption(replace(record, figures=QualityMetrics()))[0]


def test_the_caption_of_the_damaged_picture(record) -> None:
    assert captions.damaged_caption(0.0, None, False)[0] == "nothing missing"
    assert captions.damaged_caption(0.8, MEASURED, False)[0] == "80.0 % missing"
    assert "SSIM" in captions.damaged_caption(0.8, MEASURED, True)[0]


def test_progress_has_the_time_left_once_it_is_known() -> None:
    assert captions.format_activity(Activity("restore", Progress("coding patches"))) == "Coding patches"
    assert captions.format_activity(Activity("restore", Progress("coding", 0.5, 3.0))) == "Coding   3 s left"


def test_pixels_are_numbers_or_nan() -> None:
    gray, deep = np.array([[7]], np.uint8), np.array([[[1, 2, 300]]], np.uint16)
    assert captions.format_pixel(gray, 0, 0) == "7"
    assert captions.format_pixel(deep, 0, 0) == "1 2 300"
    assert captions.format_pixel(np.array([[[np.nan, 0.25, 1.0]]]), 0, 0) == "NaN 0.25 1"


def test_equal_names_are_told_apart_by_their_folders() -> None:
    paths = [Path("/a/b/x.png"), Path("/a/c/x.png"), Path("/a/y.png")]
    assert captions.short_paths(paths) == ["b/x.png", "c/x.png", "y.png"]


@pytest.mark.parametrize(
    ("kept", "figures", "words"),
    [
        (True, None, "…"),
        (False, None, "–"),
        (False, QualityMetrics(estimate=ESTIMATE), "≈ 30.00 dB"),
        (False, QualityMetrics(estimate=UNKNOWN), "–"),
        (True, QualityMetrics(), "–"),
    ],
)
def test_what_will_not_be_measured_is_a_dash(record, kept, figures, words) -> None:
    made = replace(record, figures=figures)
    assert short_quality(made if kept else made.without_image()) == words
