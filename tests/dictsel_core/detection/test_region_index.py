"""Regions at a place, and whether they are light or dark."""

import numpy as np

from dictsel_core.detection import DamageAnalysis, analyze_damage, region_contrasts
from dictsel_core.detection.regions import regions_from_points


def random_analysis(rng) -> DamageAnalysis:
    shape = 40, 50
    parts = {}
    for kind in ("scratches", "dust"):
        pixels, numbers = rng.integers(0, 2000, 300), rng.integers(0, 20, 300)
        parts[kind] = regions_from_points(shape, pixels, numbers, rng.uniform(0.1, 1, 20))
    return DamageAnalysis(shape, parts)


def test_regions_near_a_pixel_are_those_of_a_search_through_all() -> None:
    rng = np.random.default_rng(0)
    analysis = random_analysis(rng)
    places = [np.divmod(analysis.region_pixels(i), 50) for i in range(analysis.n_regions)]
    for _ in range(60):
        row, column, radius = (int(each) for each in rng.integers([-3, -3, 0], [43, 53, 6]))
        away = np.array([np.hypot(rows - row, columns - column).min() for rows, columns in places])
        found = analysis.regions_near(row, column, radius, 0.5)
        assert set(found) == set(np.flatnonzero((away <= radius) & (analysis.confidences >= 0.5)))
        assert (np.diff(away[list(found)]) >= 0).all(), "the nearest first"
        at = analysis.regions_at(row, column, 0.5)
        assert set(at) == set(np.flatnonzero((away == 0) & (analysis.confidences >= 0.5)))
        assert (np.diff(analysis.confidences[list(at)]) <= 0).all(), "the most confident first"


def test_light_regions_are_told_from_dark_ones() -> None:
    image = np.random.default_rng(1).normal(120, 2, (96, 128))
    image[40, 10:80] += 90
    image[60:63, 100:103] -= 90
    analysis = analyze_damage(image)
    contrasts = region_contrasts(image, analysis)
    assert len(contrasts) == analysis.n_regions
    light, dark = analysis.regions_at(40, 40)[0], analysis.regions_at(61, 101)[0]
    assert contrasts[light] > 0.1
    assert contrasts[dark] < -0.1


def test_a_picture_without_damage_has_no_contrasts() -> None:
    image = np.full((40, 40), 7, np.uint8)
    assert region_contrasts(image, analyze_damage(image)).shape == (0,)
