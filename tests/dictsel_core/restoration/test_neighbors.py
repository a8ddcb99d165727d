"""Images of a stack help to refine each other, where that is of use."""

from dataclasses import replace

import numpy as np
import pytest

from dictsel_core import RestoreSettings, iter_restore, psnr, restore, standard_ground_set
from dictsel_core.progress import GeneratorRun
from dictsel_core.restoration.image import ValueRange, as_image, complete_planes, in_ranges
from dictsel_core.restoration.plan import as_atom_source, planned_tile

SIZE = 40
QUICK = RestoreSettings(n_atoms=12, coding_sparsity=4, rounds=2, threads=1)


def texture(seed, size=SIZE):
    """Return smooth noise of unit range, which nothing else looks like."""
    spectrum = np.fft.rfft2(np.random.default_rng(seed).normal(size=(size, size)))
    frequencies = np.add.outer(np.fft.fftfreq(size) ** 2, np.fft.rfftfreq(size) ** 2)
    plane = np.fft.irfft2(spectrum * np.exp(-80 * frequencies), (size, size))
    return ((plane - plane.min()) / np.ptp(plane)).astype(np.float32)


@pytest.fixture(scope="module")
def volume():
    """Return planes that move by a pixel each."""
    wide = texture(1, SIZE + 16)
    return np.stack([wide[z : z + SIZE, z // 2 : z // 2 + SIZE] for z in range(5)])


@pytest.fixture(scope="module")
def hollow(volume):
    return np.where(np.random.default_rng(2).random(volume.shape) < 0.6, np.nan, volume)


@pytest.fixture(scope="module")
def atoms():
    return standard_ground_set().atoms[:, ::8]


def test_planes_that_are_alike_help_each_other(volume, hollow):
    alone = restore(hollow, settings=QUICK, axes=(1, 2), neighbor_planes=0).image
    together = restore(hollow, settings=QUICK, axes=(1, 2)).image
    assert psnr(volume, together) > psnr(volume, alone) + 0.5
    np.testing.assert_array_equal(together[~np.isnan(hollow)], volume[~np.isnan(hollow)])


def test_held_out_pixels_keep_unrelated_planes_apart():
    rows, columns = np.mgrid[:56, :56]
    angles = np.arange(4) * np.pi / 4
    unrelated = np.stack([np.sin(0.9 * (np.cos(a) * rows + np.sin(a) * columns)) for a in angles])
    hollow = np.where(np.random.default_rng(2).random(unrelated.shape) < 0.5, np.nan, unrelated)
    alone = restore(hollow, settings=QUICK, axes=(1, 2), neighbor_planes=0).image
    np.testing.assert_array_equal(restore(hollow, settings=QUICK, axes=(1, 2)).image, alone)


def test_a_neighbor_may_be_whole_where_it_is_tried():
    stack = np.stack([texture(3, 144)] * 3)
    stack[:2, 2:7, 2:7] = stack[2, -7:-2, -7:-2] = np.nan
    stack[0, 20:40:2, 20:40] = np.nan
    found = restore(stack, settings=replace(QUICK, rounds=1), axes=(1, 2)).image
    assert np.isfinite(found).all()


@pytest.mark.parametrize("reach", [1, 2])
def test_a_round_sees_its_neighbors_as_they_were_before_it(hollow, atoms, reach):
    """All planes at once, round by round, against the few that are in progress at a time."""
    stack = hollow.copy()
    stack[1] = np.nan_to_num(stack[1])  # nothing is missing, but it helps
    found = restore(stack, settings=QUICK, axes=(1, 2), dictionary=atoms, neighbor_planes=reach)
    images = [as_image(plane, np.isnan(plane)) for plane in stack[..., None]]
    restorers = {z: started(images[z], found.settings, atoms) for z in (0, 2, 3, 4)}
    for _ in range(2):
        before = {z: restorers[z].planes.copy() for z in restorers}
        for z, restorer in restorers.items():
            own, neighbors = images[z].ranges, []
            for distance in range(1, reach + 1):
                for other in (z - distance, z + distance):
                    if other in before:
                        neighbors.append(in_ranges(before[other], images[other].ranges, own))
                    elif other == 1:
                        neighbors.append(complete_planes(stack[1, :, :, None], own))
            list(restorer.round_steps(neighbors))
    for z, restorer in restorers.items():
        list(restorer.last_steps())
        np.testing.assert_array_equal(found.image[z], restorer.snapshot(2)().image[:, :, 0])
    np.testing.assert_array_equal(found.image[1], stack[1])


def started(image, settings, atoms):
    restorer = GeneratorRun(planned_tile(image, settings, as_atom_source(atoms, settings))).finish()
    list(restorer.first_steps())
    return restorer


def test_the_result_does_not_depend_on_threads(hollow, atoms):
    one, three = (
        restore(hollow, settings=replace(QUICK, threads=threads), axes=(1, 2), dictionary=atoms).image
        for threads in (1, 3)
    )
    np.testing.assert_array_equal(one, three)


def test_masked_arrays_and_other_orders_of_axes_are_the_same(volume, hollow, atoms):
    expected = restore(hollow, settings=QUICK, axes=(1, 2), dictionary=atoms, neighbor_planes=1).image
    masked = np.ma.masked_array(volume, np.isnan(hollow))
    found = restore(masked, settings=QUICK, axes=(1, 2), dictionary=atoms, neighbor_planes=1).image
    np.testing.assert_array_equal(found, expected)
    turned = np.moveaxis(hollow, 0, -1)
    found = restore(turned, settings=QUICK, axes=(0, 1), dictionary=atoms, neighbor_planes=1).image
    np.testing.assert_array_equal(found, np.moveaxis(expected, 0, -1))


def test_neighbors_are_along_the_last_axis_that_counts_images(hollow, atoms):
    """The last plane of a volume is no neighbor of the first one of the next."""
    options = {"settings": QUICK, "dictionary": atoms, "neighbor_planes": 2}
    films = np.stack([hollow[:3, :, :24], hollow[2:, :, :24]])
    found = restore(films, axes=(2, 3), **options).image
    for film, expected in zip(films, found, strict=True):
        np.testing.assert_array_equal(restore(film, axes=(1, 2), **options).image, expected)
    colors = np.stack([films, films], axis=-1)
    two = restore(colors, channel_axis=-1, axes=(2, 3), **options).image
    assert np.isfinite(two).all()
    np.testing.assert_array_equal(two[~np.isnan(colors)], colors[~np.isnan(colors)])


def test_it_can_be_abandoned_at_any_step_and_reports_its_progress(hollow, atoms):
    given = hollow.copy()
    run = iter_restore(hollow, settings=QUICK, axes=(1, 2), dictionary=atoms, neighbor_planes=1)
    steps = [next(run) for _ in range(25)]
    run.close()
    assert [step.fraction for step in steps] == sorted(step.fraction for step in steps)
    assert {step.n_images for step in steps} == {5}
    np.testing.assert_array_equal(hollow, given)


def test_single_pictures_have_no_neighbors(hollow, atoms):
    options = {"settings": QUICK, "dictionary": atoms}
    alone = restore(hollow[0], **options).image
    np.testing.assert_array_equal(restore(hollow[0], neighbor_planes=2, **options).image, alone)
    one = restore(hollow[:1], axes=(1, 2), neighbor_planes=2, **options).image
    np.testing.assert_array_equal(one[0], alone)


def test_planes_of_other_ranges_and_infinite_ones_do_no_harm(volume, hollow, atoms):
    stack = hollow.copy()
    stack[0] = 1e6 * np.nan_to_num(stack[0])
    stack[4] = np.inf
    mask = np.isnan(stack)
    found = restore(stack, mask, QUICK, axes=(1, 2), dictionary=atoms, neighbor_planes=1).image
    assert psnr(volume[1:4], found[1:4]) > 20
    np.testing.assert_array_equal(found[[0, 4]], stack[[0, 4]])


def test_unit_ranges_are_converted():
    planes = np.random.default_rng(0).random((4, 5, 2)).astype(np.float32)
    ranges, others = (ValueRange(0, 10), ValueRange(-1, 1)), (ValueRange(-10, 30), ValueRange(-1, 3))
    low, span = np.array([0, -1]), np.array([10, 2])
    expected = (planes * span + low - [-10, -1]) / [40, 4]
    assert in_ranges(planes, ranges, others) == pytest.approx(expected, abs=1e-6)
    assert in_ranges(planes, others, ranges).max() == 1, "values beyond are clipped"


@pytest.mark.parametrize("value", [-1, 9, 1.5, "1", True])
def test_other_numbers_of_neighbors_are_refused(hollow, value):
    with pytest.raises((TypeError, ValueError), match="neighbor_planes must be"):
        iter_restore(hollow, axes=(1, 2), neighbor_planes=value)
