"""Pictures side by side, as the eye should see them."""

import numpy as np
import numpy.typing as npt
import pytest

from inpaint_app.figures import Panel, comparison_figure, comparison_size
from inpaint_app.model.picture import Picture

RAMP = np.linspace(0, 1, 240 * 20).reshape(20, 240)


@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "i4", "f4", "f8"])
def test_values_of_every_kind_fill_the_range_from_black_to_white(dtype: str) -> None:
    white = {"u1": 255, "u2": 65535, "i2": 3000, "i4": 10**6, "f4": 1, "f8": 1}[dtype]
    figure = _drawn(Panel(Picture((RAMP * white).astype(dtype)), "", ""))
    assert np.abs(figure - 255 * RAMP).max() <= 1


def test_what_is_missing_is_black_and_does_not_change_the_others() -> None:
    missing = np.zeros(RAMP.shape, bool)
    missing[4:8, 5:9] = True
    values = np.where(missing, np.float32(-3e38), RAMP.astype("f4"))
    figure = _drawn(Panel(Picture(values), "", "", missing), Panel(Picture(2 * RAMP.astype("f4")), "", ""))
    assert not figure[missing].any()
    assert np.abs(figure - 127.5 * RAMP)[~missing].max() <= 1, "the panels have one scale"


def _drawn(*panels: Panel) -> npt.NDArray[np.float64]:
    """Return the first panel of the figure."""
    figure = comparison_figure(list(panels))
    assert (figure.width, figure.height) == comparison_size(panels[0].picture, len(panels))
    height, width = panels[0].picture.pixels.shape
    margin = 16
    return figure.pixels[margin : margin + height, margin : margin + width, 0].astype(float)
