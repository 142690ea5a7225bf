"""Mathematics of directions: densities, fits and samples on the unit sphere."""

from tag2box.sphere.bessel import bessel_ratio, bessel_ratio_slope, log_normalizer
from tag2box.sphere.concentration import (
    KAPPA_RULES,
    KappaRule,
    kappa_along,
    kappa_exact,
    kappa_mardia_jupp,
    kappa_rational,
    kappa_series,
)
from tag2box.sphere.mixture import MixtureFit, VmfMixture, fit_vmf_mixture, responsibilities
from tag2box.sphere.vmf import VonMisesFisher, direction_and_length, fit_vmf

__all__ = [
    "KAPPA_RULES",
    "KappaRule",
    "MixtureFit",
    "VmfMixture",
    "VonMisesFisher",
    "bessel_ratio",
    "bessel_ratio_slope",
    "direction_and_length",
    "fit_vmf",
    "fit_vmf_mixture",
    "kappa_along",
    "kappa_exact",
    "kappa_mardia_jupp",
    "kappa_rational",
    "kappa_series",
    "log_normalizer",
    "responsibilities",
]
