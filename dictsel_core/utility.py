"""Utility functions u(y, x) of dictionary selection other than the squared one (sections 1 and 2)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.validation import as_nonnegative, as_positive

__all__ = ["HuberUtility", "LogisticUtility", "SquaredUtility", "Utility"]

Array = NDArray[np.floating[Any]]


class Utility(ABC):
    r"""The quality of x as an approximation of a patch y: a sum of a concave function psi(y_i, x_i).

    The sum is over observed entries. As a function of x, psi is concave, 0 at x = 0, and its second
    derivative lies between -`smoothness` and -`concavity`. So :math:`u_t(w) = u(y_t, Aw)` is smooth with
    :math:`M_{s,2} \le` smoothness :math:`\sigma_{max}^2(A, 2)` and strongly concave with :math:`m_{2s} \ge`
    concavity :math:`\sigma_{min}^2(A, 2s)`, which is what the theorems ask for. All functions work on whole
    arrays. Without a guarantee, `concavity` is 0.
    """

    smoothness: float
    concavity: float

    @abstractmethod
    def value(self, y: Array, x: Array) -> Array:
        """Return psi(y, x)."""

    @abstractmethod
    def slope(self, y: Array, x: Array) -> Array:
        """Return the derivative of psi by x."""

    @abstractmethod
    def curvature(self, y: Array, x: Array) -> Array:
        """Return minus the second derivative of psi by x, from `concavity` to `smoothness`."""

    @abstractmethod
    def largest(self, y: Array) -> Array:
        """Return the supremum of psi over all x."""

    def check(self, y: Array) -> None:  # noqa: B027  (by default any data will do)
        """Raise ValueError if data are not in the domain; `y` is 0 at missing entries."""


@dataclass(frozen=True)
class SquaredUtility(Utility):
    """The l2 utility :math:`|y|^2/2 - |y - x|^2/2`, which all selectors use by default, faster."""

    smoothness: float = field(default=1.0, init=False)
    concavity: float = field(default=1.0, init=False)

    def value(self, y: Array, x: Array) -> Array:
        """Return y x - x^2 / 2."""
        return x * (y - x / 2)

    def slope(self, y: Array, x: Array) -> Array:
        """Return the error y - x."""
        return y - x

    def curvature(self, y: Array, x: Array) -> Array:
        """Return 1."""
        return np.ones_like(x)

    def largest(self, y: Array) -> Array:
        """Return y^2 / 2."""
        return np.square(y) / 2


@dataclass(frozen=True)
class HuberUtility(Utility):
    r"""H(y) - H(y - x), where errors beyond a threshold count linearly: outliers do not select the atoms.

    H(e) is :math:`e^2/2` up to the threshold :math:`\delta`, and :math:`\delta |e| - \delta^2/2` beyond
    [1]_. It is smooth with constant 1; strongly concave only while errors stay within the threshold, so that
    there is no guarantee in advance.

    Parameters
    ----------
    threshold : float

    References
    ----------
    .. [1] P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics 35(1),
       1964. :DOI:`10.1214/aoms/1177703732`
    """

    threshold: float
    smoothness: float = field(default=1.0, init=False)
    concavity: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", as_positive(self.threshold, "threshold"))

    def value(self, y: Array, x: Array) -> Array:
        """Return H(y) - H(y - x)."""
        return self.largest(y) - self.largest(y - x)

    def slope(self, y: Array, x: Array) -> Array:
        """Return the error, clipped to the threshold."""
        return np.clip(y - x, -self.threshold, self.threshold)

    def curvature(self, y: Array, x: Array) -> Array:
        """Return 1 for errors within the threshold, else 0."""
        return (np.abs(y - x) <= self.threshold).astype(x.dtype)

    def largest(self, y: Array) -> Array:
        """Return H(y)."""
        size = np.abs(y)
        inside = np.minimum(size, self.threshold)
        return inside * (size - inside / 2)


@dataclass(frozen=True)
class LogisticUtility(Utility):
    r"""For binary data: the log-likelihood of y, 0 or 1, if it is 1 with probability 1 / (1 + exp(-x)).

    Minus that of x = 0, and minus a penalty :math:`\rho x^2 / 2` that makes it strongly concave and keeps
    weights finite where atoms separate zeros from ones. Data may also be probabilities.

    Parameters
    ----------
    penalty : float, optional
        rho, at least 0. Default is 0.01.
    """

    penalty: float = 0.01
    smoothness: float = field(init=False, repr=False)
    concavity: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        penalty = as_nonnegative(self.penalty, "penalty")
        object.__setattr__(self, "penalty", penalty)
        object.__setattr__(self, "concavity", penalty)
        object.__setattr__(self, "smoothness", penalty + 0.25)

    def check(self, y: Array) -> None:
        """Raise ValueError if data are not between 0 and 1."""
        if y.min() < 0 or y.max() > 1:
            raise ValueError("data must lie between 0 and 1 for LogisticUtility.")

    def value(self, y: Array, x: Array) -> Array:
        """Return y x - ln(1 + exp(x)) + ln 2 - rho x^2 / 2."""
        likelihood = y * x - np.logaddexp(0, x) + np.log(2)
        return np.asarray(likelihood - self.penalty * np.square(x) / 2)

    def slope(self, y: Array, x: Array) -> Array:
        """Return y minus the probability of 1, minus rho x."""
        return y - _probability(x) - self.penalty * x

    def curvature(self, y: Array, x: Array) -> Array:
        """Return p (1 - p) + rho, where p is the probability of 1."""
        p = _probability(x)
        return np.asarray(p * (1 - p) + self.penalty)

    def largest(self, y: Array) -> Array:
        """Return ln 2 minus the entropy of y, which the penalty keeps out of reach."""
        entropy = np.zeros_like(y)
        for p in (y, 1 - y):
            entropy -= p * np.log(p, out=np.zeros_like(p), where=p > 0)
        return np.asarray(np.log(2) - entropy)


def as_utility(utility: object) -> Utility:
    """Return a utility, by default the squared one; raise TypeError for anything else."""
    if utility is None:
        return SquaredUtility()
    if isinstance(utility, type):
        raise TypeError(
            f"utility must be a Utility, not the class {utility.__name__}; give it its parameters."
        )
    if not isinstance(utility, Utility):
        raise TypeError(f"utility must be a Utility such as HuberUtility(0.1), not {type(utility).__name__}.")
    return utility


def _probability(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return np.asarray(np.exp(-np.logaddexp(0, -x)))
