"""What an extra would install, and what to say when it is not there."""

from __future__ import annotations

from importlib.util import find_spec

from tag2box.errors import InputError


def require_extra(extra: str, *modules: str) -> None:
    """Refuse to go on without the modules that an extra installs."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise InputError(
            f"{', '.join(missing)} is not installed.", f"the extra {extra!r}", f"pip install 'tag2box[{extra}]'"
        )
