"""Numbers as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaint_app.window.widgets.ticks import format_number


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"),
        (7, "7"),
        (31.234, "31.2"),
        (0.00124, "0.00124"),
        (45938.2, "45,900"),
        (999.6, "1,000"),
        (-1234.0, "-1,230"),
        (2.5e9, "2.50e9"),
        (1e-7, "1.00e-7"),
    ],
)
def test_numbers(value, words):
    assert format_number(value) == words


@given(st.floats(-1e12, 1e12, allow_subnormal=False))
def test_what_is_written_is_the_number_within_a_percent(value):
    assert float(format_number(value).replace(",", "")) == pytest.approx(value, rel=0.01)
