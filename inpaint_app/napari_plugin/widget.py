"""The widget of the plug-in: choose an image layer and labels, fill, cancel."""

from collections.abc import Generator

import numpy as np
from magicgui.widgets import ComboBox, Container, Label, ProgressBar, PushButton, create_widget
from napari.layers import Image, Labels
from napari.qt.threading import GeneratorWorker, create_worker
from napari.utils.notifications import show_error
from napari.viewer import Viewer

from dictsel_core.restoration import PRESETS
from inpaint_app.engine.control import Progress
from inpaint_app.errors import UserError
from inpaint_app.napari_plugin.fill import Data, FillRequest, fill, fill_request
from inpaint_app.text import PRESET_EXPLANATIONS

#: What the new layer has in common with the image layer.
_KEPT = (
    *("scale", "translate", "rotate", "shear", "affine", "units", "axis_labels"),
    *("metadata", "blending", "opacity", "rgb"),
)
#: The same for layers that are not RGB.
_KEPT_IF_GRAY = ("colormap", "contrast_limits", "gamma")

#: Of the widget in pixels, so that the name of its dock can be read.
_MIN_WIDTH = 280


class FillWidget(Container):  # type: ignore[misc]
    """Fills the missing pixels of an image layer: the result is a new layer."""

    def __init__(self, napari_viewer: Viewer) -> None:
        self._viewer = napari_viewer
        self._worker: GeneratorWorker | None = None
        self.image_box = create_widget(
            annotation=Image, label="image", options={"tooltip": "The image layer with missing pixels."}
        )
        self.labels_box = create_widget(
            annotation=Labels | None,
            label="labels",
            options={"tooltip": "Pixels with a label are missing. What is NaN is missing in any case."},
        )
        self.preset_box = ComboBox(
            choices=PRESETS, value="balanced", label="preset", tooltip=_explain_presets()
        )
        self.fill_button = PushButton(
            text="Fill", tooltip="Fill what is missing, and show it in a new layer."
        )
        self.cancel_button = PushButton(text="Cancel", enabled=False, tooltip="Cancel and discard.")
        self.progress = ProgressBar(max=100, visible=False)
        self.status = Label(value="")
        buttons = Container(widgets=[self.fill_button, self.cancel_button], layout="horizontal", labels=False)
        super().__init__(
            widgets=[self.image_box, self.labels_box, self.preset_box, buttons, self.progress, self.status],
            labels=True,
        )
        self.min_width = _MIN_WIDTH
        self.fill_button.changed.connect(self.start)
        self.cancel_button.changed.connect(self.cancel)

    @property
    def is_running(self) -> bool:
        """Whether a layer is being filled."""
        return self._worker is not None

    def start(self) -> None:
        """Begin to fill the chosen layer; what is wrong with it is shown as a notification."""
        if self.is_running:
            show_error("A layer is being filled; cancel that, or wait for it.")
            return
        try:
            request = self._request()
        except UserError as error:
            show_error(str(error))
            return
        options = _new_layer(self.image_box.value)
        worker = create_worker(_fill_or_explain, request, _start_thread=False)
        worker.yielded.connect(self._on_progress)
        worker.returned.connect(lambda result: self._on_returned(result, options))
        worker.finished.connect(self._on_finished)
        self._worker = worker
        self._show_running(True)
        worker.start()

    def cancel(self) -> None:
        """End the work at its next step, and discard its result."""
        if self._worker is not None:
            self._worker.quit()
            self.status.value = "cancelling"

    def _request(self) -> FillRequest:
        image, labels = self.image_box.value, self.labels_box.value
        if image is None:
            raise UserError("There is no image layer", "open an image first")
        if labels is not None and not _is_aligned(image, labels):
            raise UserError(
                f"{labels.name} and {image.name} have another scale or translation",
                "copy scale and translation from one to the other",
            )
        marks = None if labels is None else np.asarray(labels.data)
        data = image.data[0] if image.multiscale else image.data
        return fill_request(np.asarray(data), marks, self.preset_box.value, is_rgb=image.rgb)

    def _on_progress(self, progress: Progress) -> None:
        if self._worker is not None and not self._worker.abort_requested:
            self.progress.value = round(100 * (progress.fraction or 0))
            self.status.value = progress.stage

    def _on_returned(self, result: Data | str, options: dict[str, object]) -> None:
        if isinstance(result, str):
            show_error(result)
        else:
            self._viewer.add_image(result, **options)

    def _on_finished(self) -> None:
        self._worker = None
        self._show_running(False)

    def _show_running(self, running: bool) -> None:
        self.fill_button.enabled, self.cancel_button.enabled = not running, running
        self.progress.value, self.progress.visible = 0, running
        self.status.value = ""


def _fill_or_explain(request: FillRequest) -> Generator[Progress, None, Data | str]:
    """Return the filled data, or what is wrong: napari shows errors with their traceback."""
    try:
        return (yield from fill(request))
    except UserError as error:
        return str(error)


def _new_layer(layer: Image) -> dict[str, object]:
    """Return name and attributes of the layer that will hold the filled data of another."""
    names = _KEPT if layer.rgb else _KEPT + _KEPT_IF_GRAY
    return {"name": f"{layer.name} filled"} | {name: getattr(layer, name) for name in names}


def _is_aligned(image: Image, labels: Labels) -> bool:
    """Return whether rows and columns of two layers are the same in the viewer."""
    return all(
        np.allclose(getattr(image, name)[-2:], getattr(labels, name)[-2:]) for name in ("scale", "translate")
    )


def _explain_presets() -> str:
    return "\n".join(f"{name}: {PRESET_EXPLANATIONS[name]}" for name in PRESETS)
