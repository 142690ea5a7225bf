# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3

.PHONY: demo test sabotage kill clean

demo: .venv/installed
	.venv/bin/tag2box demo -o demo-run

test: .venv-dev/installed
	.venv-dev/bin/ruff check .
	.venv-dev/bin/ruff format --check .
	.venv-dev/bin/mypy
	.venv-dev/bin/pytest -n auto

# Applies small mistakes to a copy of the code; fails if the tests let one live.
sabotage: .venv-dev/installed
	.venv-dev/bin/python scripts/sabotage.py

# Kills a writing process a hundred times; the store must lose nothing that was sealed.
kill: .venv-dev/installed
	.venv-dev/bin/python scripts/kill_writer.py --kills 100

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --editable .
	touch $@

.venv-dev/installed: pyproject.toml
	$(PYTHON) -m venv .venv-dev
	.venv-dev/bin/python -m pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv .venv-dev build demo-run
