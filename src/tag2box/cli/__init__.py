"""The command line."""

from tag2box.cli.app import main

__all__ = ["main"]
