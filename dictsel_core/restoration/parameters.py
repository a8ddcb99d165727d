"""The values that a parameter may take, for validation and for the front ends."""

import math
import operator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

_LONGEST_SHOWN = 40


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """The values that a parameter may take.

    Attributes
    ----------
    name : str
    kind : {int, float, bool, str}
        A whole number, a finite number, a truth value, or a text.
    minimum, maximum : float
        Limits of a number; infinite where there is none.
    excludes_minimum : bool
        Whether it must lie above the minimum.
    choices : tuple of str
        The values that a text may take; empty if there is no restriction.
    is_optional : bool
        Whether it may be None.

    Examples
    --------
    >>> from dictsel_core import RestoreSettings
    >>> RestoreSettings.parameters["n_atoms"].minimum
    1
    """

    name: str
    kind: type
    minimum: float = -math.inf
    maximum: float = math.inf
    excludes_minimum: bool = False
    choices: tuple[str, ...] = ()
    is_optional: bool = False

    @property
    def description(self) -> str:
        """The allowed values as text, for use after "must be" or "needs"."""
        if self.kind is bool:
            return "true or false"
        if self.kind is str:
            *others, last = self.choices or ("a text",)
            return f"{', '.join(others)} or {last}" if others else last
        noun = "a whole number" if self.kind is int else "a number"
        if self.minimum == -math.inf:
            return noun if self.maximum == math.inf else f"{noun} up to {self.maximum}"
        if self.excludes_minimum:
            to = "" if self.maximum == math.inf else f", up to {self.maximum}"
            return f"{noun} above {self.minimum}{to}"
        if self.maximum == math.inf:
            return f"{noun} of at least {self.minimum}"
        return f"{noun} from {self.minimum} to {self.maximum}"

    def checked(self, value: object) -> Any:  # noqa: ANN401  (of the kind that the parameter has)
        """Return a value as a plain Python object, if it is allowed.

        Raises
        ------
        TypeError
            If it is of another kind: numbers are not flags, nor the other way round.
        ValueError
            If it is out of range, not finite, or not one of the choices.
        """
        if value is None and self.is_optional:
            return None
        if not self._is_of_kind(value):
            raise TypeError(self._refusal(value))
        try:
            plain = self.kind(value)
        except OverflowError:  # a whole number of 400 digits has no float
            plain = math.inf
        if not self._is_allowed(plain):
            raise ValueError(self._refusal(value))
        return plain

    def _is_of_kind(self, value: object) -> bool:
        is_flag = isinstance(value, bool | np.bool_)
        if self.kind is bool or is_flag:
            return self.kind is bool and is_flag
        if self.kind is str:
            return isinstance(value, str)
        return isinstance(value, Real) if self.kind is float else _is_whole(value)

    def _is_allowed(self, value: Any) -> bool:  # noqa: ANN401
        if self.kind is str:
            return not self.choices or value in self.choices
        if self.kind is bool:
            return True
        is_finite = self.kind is int or math.isfinite(value)
        is_excluded = self.excludes_minimum and value == self.minimum
        return is_finite and not is_excluded and self.minimum <= value <= self.maximum

    def _refusal(self, value: object) -> str:
        try:
            shown = repr(value)
        except ValueError:  # Python refuses to write out thousands of digits
            shown = "one with thousands of digits"
        if len(shown) > _LONGEST_SHOWN:
            shown = f"{shown[: _LONGEST_SHOWN - 3]}..."
        return f"{self.name} must be {self.description}, not {shown}."


def _is_whole(value: object) -> bool:
    try:
        operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True
