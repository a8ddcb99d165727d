"""The plug-in in napari's own test viewer; run by `make test-napari`."""

import numpy as np
import pytest
from napari.utils.notifications import notification_manager
from npe2 import PluginManifest

from dictsel_core import restore
from inpaint_app.napari_plugin.action import fill_selected
from inpaint_app.napari_plugin.widget import FillWidget

WAIT = 30_000


@pytest.fixture
def viewer(make_napari_viewer):
    return make_napari_viewer()


@pytest.fixture
def widget(viewer):
    _, widget = viewer.window.add_plugin_dock_widget("dictsel", "Fill missing pixels")
    widget.preset_box.value = "fast"
    return widget


def wait_until_done(qtbot, widget):
    qtbot.waitUntil(lambda: not widget.is_running, timeout=WAIT)


def last_notification():
    return notification_manager.records[-1].message


def test_the_manifest_is_found_and_valid():
    manifest = PluginManifest.from_distribution("dictsel")
    manifest.validate_imports()
    assert manifest.display_name == "Inpaint"


def test_nan_becomes_a_new_layer_with_the_same_place_and_metadata(viewer, widget, qtbot, waves, hole):
    damaged = np.where(hole, np.nan, waves)
    layer = viewer.add_image(
        damaged, name="waves", scale=(2, 3), translate=(5, 7), metadata={"a": 1}, colormap="magma"
    )
    widget.fill_button.changed.emit(True)
    wait_until_done(qtbot, widget)
    new = viewer.layers["waves filled"]
    assert np.array_equal(new.data, restore(damaged, settings="fast", axes=(0, 1)).image)
    assert np.array_equal(layer.data, damaged, equal_nan=True)
    assert tuple(new.scale) == (2, 3) and tuple(new.translate) == (5, 7)
    assert new.metadata == {"a": 1} and new.colormap.name == "magma"
    assert np.allclose(new.contrast_limits, layer.contrast_limits)


def test_labels_say_what_is_filled_in_all_planes(viewer, widget, qtbot, waves, hole):
    stack = np.broadcast_to(waves, (2, 2, *waves.shape))
    viewer.add_image(np.where(hole, 0, stack), name="series")
    widget.labels_box.value = viewer.add_labels(hole.astype(int))
    widget.start()
    wait_until_done(qtbot, widget)
    assert np.abs(viewer.layers["series filled"].data - stack).max() < 0.05


def test_an_rgb_layer_stays_one(viewer, widget, qtbot, waves, hole):
    colors = np.where(hole, 0, 200 * waves).astype(np.uint8)[..., None].repeat(3, axis=-1)
    viewer.add_image(colors, name="photo", rgb=True)
    widget.labels_box.value = viewer.add_labels(hole.astype(int))
    widget.start()
    wait_until_done(qtbot, widget)
    assert viewer.layers["photo filled"].rgb and viewer.layers["photo filled"].data.dtype == np.uint8


def test_the_largest_level_of_a_multiscale_layer_is_filled(viewer, widget, qtbot, waves, hole):
    damaged = np.where(hole, np.nan, waves)
    viewer.add_image([damaged, damaged[::2, ::2]], name="levels", contrast_limits=(0, 1))
    widget.start()
    wait_until_done(qtbot, widget)
    assert viewer.layers["levels filled"].data.shape == damaged.shape


def test_progress_is_shown_and_cancel_leaves_no_layer(viewer, widget, qtbot, waves, hole):
    viewer.add_image(np.broadcast_to(np.where(hole, np.nan, waves), (400, *waves.shape)), name="long")
    widget.start()
    assert widget.cancel_button.enabled and not widget.fill_button.enabled
    qtbot.waitUntil(lambda: widget.status.value.startswith("plane "), timeout=WAIT)
    widget.cancel_button.changed.emit(True)
    wait_until_done(qtbot, widget)
    assert [layer.name for layer in viewer.layers] == ["long"]
    assert widget.fill_button.enabled and not widget.cancel_button.enabled and widget.status.value == ""


def test_what_is_wrong_is_one_sentence(viewer, widget, qtbot, waves):
    widget.start()
    assert last_notification() == "There is no image layer; open an image first."
    viewer.add_image(waves, name="whole")
    widget.start()
    assert last_notification().startswith("The image has no NaN, so that nothing is missing; ")
    widget.labels_box.value = viewer.add_labels(np.ones(waves.shape, int), translate=(1, 0), name="marks")
    widget.start()
    assert last_notification().startswith("marks and whole have another scale or translation; ")
    assert not widget.is_running


def test_an_error_in_the_thread_is_one_sentence(viewer, widget, qtbot, waves, hole, monkeypatch):
    def fail(*_args, **_options):
        raise MemoryError

    monkeypatch.setattr("inpaint_app.napari_plugin.fill.iter_restore", fail)
    viewer.add_image(np.where(hole, np.nan, waves))
    widget.start()
    wait_until_done(qtbot, widget)
    assert last_notification() == "There is not enough memory for this picture; scale it down first."
    assert len(viewer.layers) == 1


def test_the_action_fills_the_selected_layers(viewer, qtbot, waves, hole):
    image = viewer.add_image(np.where(hole, 0, waves), name="waves")
    labels = viewer.add_labels(hole.astype(int))
    viewer.layers.selection = {image, labels}
    fill_selected(viewer)
    _, widget = viewer.window.add_plugin_dock_widget("dictsel", "Fill missing pixels")
    assert isinstance(widget, FillWidget)
    wait_until_done(qtbot, widget)
    assert np.abs(viewer.layers["waves filled"].data - waves).max() < 0.05


def test_the_action_asks_for_one_image_layer(viewer):
    fill_selected(viewer)
    assert last_notification().startswith("Select one image layer")
