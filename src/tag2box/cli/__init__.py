"""The command line; where a package that it needs is missing, what the doctor says of that."""

try:
    from tag2box.cli.app import main
except ImportError as error:
    if (error.name or "tag2box").split(".")[0] == "tag2box":  # nobody's fault but ours
        raise
    from tag2box.cli.look import doctor_alone as main

__all__ = ["main"]
