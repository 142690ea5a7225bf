# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3

.PHONY: demo test core docs sabotage kill clean

demo: .venv/installed
	.venv/bin/tag2box demo -o demo-run

test: .venv-dev/installed core
	.venv-dev/bin/ruff check .
	.venv-dev/bin/ruff format --check .
	.venv-dev/bin/mypy
	.venv-dev/bin/pytest -n auto

# The installed package, without torch, in an environment of its own.
core: .venv-core/installed
	.venv-core/bin/python -m pip install --quiet --no-deps --force-reinstall .
	.venv-core/bin/python scripts/check_core.py

# The documentation as a site, in build/site.
docs: .venv-dev/installed
	.venv-dev/bin/mkdocs build --strict --quiet

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

.venv-core/installed: pyproject.toml
	$(PYTHON) -m venv .venv-core
	.venv-core/bin/python -m pip install --quiet .
	touch $@

.venv-dev/installed: pyproject.toml
	$(PYTHON) -m venv .venv-dev
	.venv-dev/bin/python -m pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv .venv-core .venv-dev build demo-run
