"""The extra ``train``: torch and torchvision, which only training needs and nothing here imports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tag2box.product.doctor.another_python import Try, attempt
from tag2box.product.doctor.findings import Finding, note, ok, problem
from tag2box.product.doctor.installation import AGAIN, shortcomings, with_versions
from tag2box.product.doctor.requirements import Requirement

EXTRA = "train"
INSTALL = "only tag2box train needs it: pip install 'tag2box[train]'"
INSTALL_AGAIN = "only tag2box train needs it: pip install --force-reinstall 'tag2box[train]'"
LOAD_TORCH = "import torch; print(torch.__version__, 'cuda' if torch.version.cuda else 'cpu')"
LOAD_TORCHVISION = "import torchvision; print(torchvision.__version__)"
NO_OPERATORS = "operator torchvision::"
"""In torchvision's complaint when its compiled operators were built for another torch."""


def extra_finding(wanted: Sequence[Requirement], versions: Mapping[str, str]) -> Finding:
    """Whether training has what it needs, in the versions that are pinned."""
    if not wanted:
        return note("train", "the package was installed before it had this extra.", AGAIN)
    if wrong := shortcomings(wanted, versions):
        return note("train", f"{', '.join(wrong)}.", INSTALL)
    return ok("train", with_versions(wanted, versions))


def torch_finding(version: str | None, try_code: Try = attempt) -> Finding | None:
    """Whether torch loads, and which build it is; None if it is not installed."""
    if version is None:
        return None
    tried = try_code(LOAD_TORCH)
    if not tried.worked:
        return problem("torch", f"{version} does not load: {tried.said}", INSTALL_AGAIN)
    loaded, build = tried.said.split()
    if build == "cuda":
        return note("torch", f"{loaded}, a CUDA build: it works, but the CPU build is gigabytes smaller.")
    return ok("torch", f"{loaded}, a CPU build")


def torchvision_finding(version: str | None, try_code: Try = attempt) -> Finding | None:
    """Whether torchvision loads, and if not, whether that matters; None if it is not installed."""
    if version is None:
        return None
    tried = try_code(LOAD_TORCHVISION)
    if tried.worked:
        return ok("torchvision", f"{version} loads")
    if NO_OPERATORS in tried.said:
        words = (
            f"{version}: its compiled operators are built for CUDA and do not load beside a CPU torch ({tried.said})."
        )
        return note("torchvision", words, "nothing: tag2box works around it. Other programs that import it here fail.")
    return problem("torchvision", f"{version} does not load: {tried.said}", INSTALL_AGAIN)
