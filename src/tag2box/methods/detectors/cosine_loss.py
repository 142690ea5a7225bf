"""Sigmoid cross entropy of cosine classifiers, for all classes together.

R = regions, d = feature dimension, C = classes, v = classifier, tau = temperature. Equations: method.md, section 9.

Scores before normalisation are linear in v, so along a line they are affine in the step: one product of matrices
prepares a whole line search, a second one gives the gradient at its end. Arrays (R, C) lie in memory class by class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from tag2box.arrays import Array, sigmoid
from tag2box.methods.detectors.lbfgs import Line, LinePoint


@final
@dataclass(frozen=True, eq=False)
class CosineLoss:
    """The problem: which regions are examples of which class, and how much each counts."""

    features: Array
    """(R, d), unit rows"""
    signs: Array
    """(R, C): 1 where the region is the class, -1 where it is not"""
    shares: Array
    """(R, C): weight of the example in the loss of the class, 0 for no example; each column sums to 1"""
    tau: float

    def at(self, v: Array) -> CosineLossPoint:
        """The loss at classifiers (C, d)."""
        return CosineLossPoint(self, v, self.products(v))

    def products(self, v: Array) -> Array:
        """(R, C), v.x of every region and class."""
        return (v @ self.features.T).T


@final
@dataclass(frozen=True, eq=False)
class CosineLossPoint:
    """Loss and gradient of every class at one set of classifiers."""

    loss: CosineLoss
    variables: Array
    """(C, d)"""
    products: Array
    """(R, C), v.x before normalisation"""

    @cached_property
    def norms(self) -> Array:
        """(C,) lengths of the classifiers."""
        return np.linalg.norm(self.variables, axis=1)

    @cached_property
    def _margins(self) -> Array:
        """(R, C) signed scores: large where the classifier is right."""
        return self.loss.signs * (self.loss.tau / self.norms) * self.products

    @cached_property
    def values(self) -> Array:
        """(C,) mean cross entropy, (9.2)."""
        return (self.loss.shares * np.logaddexp(0.0, -self._margins)).sum(axis=0)

    @cached_property
    def gradients(self) -> Array:
        """(C, d), (9.3): the pull of the examples, without its part along v."""
        pull = -self.loss.shares * self.loss.signs * sigmoid(-self._margins) * (self.loss.tau / self.norms)  # (R, C)
        along = (pull * self.products).sum(axis=0) / self.norms**2  # (C,)
        return pull.T @ self.loss.features - along[:, None] * self.variables

    def lines(self, directions: Array) -> CosineLossLines:
        """The loss along ``directions`` (C, d) from here."""
        return CosineLossLines(self, directions, self.loss.products(directions))


@final
@dataclass(frozen=True, eq=False)
class CosineLossLines:
    """The loss of every class on a line."""

    origin: CosineLossPoint
    directions: Array
    """(C, d)"""
    products: Array
    """(R, C), direction.x"""

    def along(self, problem: int) -> Line:
        """Loss and slope of one class at a step: no matrix is touched."""
        loss, c = self.origin.loss, problem
        rows = np.flatnonzero(loss.shares[:, c])
        shares, signs = loss.shares[rows, c], loss.signs[rows, c]
        start, pace = self.origin.products[rows, c], self.products[rows, c]
        v, p = self.origin.variables[c], self.directions[c]

        def line(step: float) -> LinePoint:
            length = float(np.linalg.norm(v + step * p))
            stretch = float(p @ (v + step * p)) / length**2
            score = loss.tau / length * (start + step * pace)
            rise = loss.tau / length * pace - stretch * score
            value = float(shares @ np.logaddexp(0.0, -signs * score))
            slope = float(-(shares * signs * sigmoid(-signs * score)) @ rise)
            return LinePoint(step, value, slope)

        return line

    def end(self, steps: Array) -> CosineLossPoint:
        """The point after ``steps`` (C,)."""
        variables = self.origin.variables + steps[:, None] * self.directions
        return CosineLossPoint(self.origin.loss, variables, self.origin.products + steps * self.products)
