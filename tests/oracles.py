"""Slow and certain versions: 50 digits, or straight from the definition."""

from __future__ import annotations

from functools import cache

import mpmath as mp

DIMENSIONS = [2, 3, 16, 64, 128, 512, 640, 1536, 4096]
"""The grid on which vMF numerics are promised."""


@cache
def exact_bessel(order: float, kappa: float) -> mp.mpf:
    with mp.workdps(50):
        return mp.besseli(mp.mpf(order), mp.mpf(kappa), maxterms=10**7)


def exact_log_normalizer(kappa: float, d: int) -> mp.mpf:
    with mp.workdps(50):
        half = mp.mpf(d) / 2
        if kappa == 0.0:
            return mp.log(2) + half * mp.log(mp.pi) - mp.loggamma(half)
        return half * mp.log(2 * mp.pi) + mp.log(exact_bessel(d / 2 - 1, kappa)) - (half - 1) * mp.log(mp.mpf(kappa))


def exact_ratio(kappa: float, d: int) -> mp.mpf:
    with mp.workdps(50):
        return exact_bessel(d / 2, kappa) / exact_bessel(d / 2 - 1, kappa) if kappa else mp.mpf(0)


def exact_inverse(r: float, d: int, near: float) -> mp.mpf:
    """Kappa with A(kappa) = r, by Newton's method in 50 digits."""
    with mp.workdps(50):
        kappa = mp.mpf(near)
        for _ in range(4):
            ratio = mp.besseli(mp.mpf(d) / 2, kappa, maxterms=10**7) / mp.besseli(
                mp.mpf(d) / 2 - 1, kappa, maxterms=10**7
            )
            kappa -= (ratio - mp.mpf(r)) / (1 - ratio**2 - (d - 1) * ratio / kappa)
        return kappa
