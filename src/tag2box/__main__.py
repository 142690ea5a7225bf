"""``python -m tag2box``."""

from tag2box.cli import main

main()
