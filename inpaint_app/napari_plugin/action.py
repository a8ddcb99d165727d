"""The action of the plug-in: fill the selected layer at once."""

from napari.layers import Image, Labels
from napari.utils.notifications import show_error
from napari.viewer import Viewer

_PLUGIN, _WIDGET = "dictsel", "Fill missing pixels"


def fill_selected(viewer: Viewer) -> None:
    """Fill the selected image layer, where the labels layer that is selected with it says, or NaN.

    The widget opens, shows the progress, and can cancel.
    """
    images = [layer for layer in viewer.layers.selection if isinstance(layer, Image)]
    labels = [layer for layer in viewer.layers.selection if isinstance(layer, Labels)]
    if len(images) != 1 or len(labels) > 1:
        show_error("Select one image layer, and with it the labels layer that marks pixels, if there is one.")
        return
    _, widget = viewer.window.add_plugin_dock_widget(_PLUGIN, _WIDGET)
    widget.image_box.value, widget.labels_box.value = images[0], labels[0] if labels else None
    widget.start()
