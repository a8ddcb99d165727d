"""A parameter says what it may be, and holds to it."""

import math
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest

from dictsel_core import RestoreSettings
from dictsel_core.restoration import Parameter

WHOLE = Parameter(name="count", kind=int, minimum=2, maximum=32)
NUMBER = Parameter(name="weight", kind=float, minimum=0, maximum=64, excludes_minimum=True)
FLAG = Parameter(name="keep", kind=bool)
CHOICE = Parameter(name="way", kind=str, choices=("one", "two", "three"))


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        (WHOLE, 2, 2),
        (WHOLE, np.uint8(32), 32),
        (NUMBER, 64, 64.0),
        (NUMBER, np.float32(0.5), 0.5),
        (NUMBER, Fraction(1, 4), 0.25),
        (NUMBER, 5e-324, 5e-324),
        (FLAG, np.True_, True),
        (CHOICE, np.str_("two"), "two"),
        (Parameter(name="any", kind=str), "", ""),
        (Parameter(name="open", kind=float, minimum=0), 1e308, 1e308),
    ],
)
def test_allowed_values_become_plain_ones(parameter, value, expected):
    checked = parameter.checked(value)
    assert checked == expected
    assert type(checked) is parameter.kind


@pytest.mark.parametrize(
    ("parameter", "value", "error"),
    [
        (WHOLE, 1, ValueError),
        (WHOLE, 33, ValueError),
        (WHOLE, 10**400, ValueError),
        pytest.param(WHOLE, -(10**5000), ValueError, id="5000 digits"),
        (WHOLE, 8.0, TypeError),
        (WHOLE, "8", TypeError),
        (WHOLE, True, TypeError),
        (WHOLE, np.True_, TypeError),
        (WHOLE, None, TypeError),
        (NUMBER, 0, ValueError),
        (NUMBER, 64.1, ValueError),
        (NUMBER, math.nan, ValueError),
        (NUMBER, math.inf, ValueError),
        (NUMBER, 10**400, ValueError),
        (NUMBER, 1j, TypeError),
        (NUMBER, False, TypeError),
        (NUMBER, [1], TypeError),
        (Parameter(name="open", kind=float), math.inf, ValueError),
        (Parameter(name="open", kind=float), 10**400, ValueError),
        (FLAG, "no", TypeError),
        (FLAG, 0, TypeError),
        (FLAG, None, TypeError),
        (CHOICE, "four", ValueError),
        (CHOICE, "\ud800" * 99, ValueError),
        (CHOICE, ["one"], TypeError),
    ],
)
def test_other_values_are_refused_in_one_short_sentence(parameter, value, error):
    with pytest.raises(error) as caught:
        parameter.checked(value)
    sentence = str(caught.value)
    assert sentence.startswith(f"{parameter.name} must be {parameter.description}, not ")
    assert sentence.endswith(".")
    assert len(sentence) < 120
    assert sentence.isprintable()


def test_only_optional_ones_may_be_none():
    assert Parameter(name="rounds", kind=int, is_optional=True).checked(None) is None


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"kind": int, "minimum": 2, "maximum": 32}, "a whole number from 2 to 32"),
        ({"kind": int, "minimum": 0, "maximum": 2**63 - 1}, "a whole number from 0 to 9223372036854775807"),
        ({"kind": float, "minimum": 0}, "a number of at least 0"),
        ({"kind": float, "minimum": 0, "excludes_minimum": True}, "a number above 0"),
        (
            {"kind": float, "minimum": 0, "maximum": 64, "excludes_minimum": True},
            "a number above 0, up to 64",
        ),
        ({"kind": int, "maximum": 9}, "a whole number up to 9"),
        ({"kind": float}, "a number"),
        ({"kind": bool}, "true or false"),
        ({"kind": str}, "a text"),
        ({"kind": str, "choices": ("one",)}, "one"),
        ({"kind": str, "choices": ("one", "two", "three")}, "one, two or three"),
    ],
)
def test_description(limits, words):
    assert Parameter(name="it", **limits).description == words


def test_every_setting_but_the_bases_is_described_and_its_default_allowed():
    names = {each.name for each in fields(RestoreSettings)}
    assert set(RestoreSettings.parameters) == names - {"bases"}
    settings = RestoreSettings()
    for name, parameter in RestoreSettings.parameters.items():
        assert parameter.name == name
        parameter.checked(getattr(settings, name))


def test_settings_hold_numbers_of_python_itself():
    settings = RestoreSettings(
        n_atoms=np.int64(9), mean_sparsity=np.float32(2.5), keep_observed=np.True_, seed=np.uint8(3)
    )
    assert [type(each) for each in (settings.n_atoms, settings.mean_sparsity, settings.seed)] == [
        int,
        float,
        int,
    ]
    assert settings.keep_observed is True
