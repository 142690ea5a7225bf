"""Two checkouts of this repository, asked the same questions: what ``scripts/compare_houses.py`` is made of."""
