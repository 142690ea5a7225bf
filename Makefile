# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3

.PHONY: help demo test core docs sabotage kill damage soak cluster results labelstudio page clean

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/installed  ## install the package into .venv and run the whole story, offline, into demo-run
	.venv/bin/tag2box demo -o demo-run

# Tests run on all cores already: more threads in each would wait for each other.
test: export OMP_NUM_THREADS = 1
test: .venv-dev/installed core  ## install everything, with torch, and run all checks: what CI runs
	.venv-dev/bin/ruff check .
	.venv-dev/bin/ruff format --check .
	.venv-dev/bin/mypy
	.venv-dev/bin/pytest -n auto

core: .venv-core/installed  ## check the installed package, without torch, in an environment of its own
	rm -rf build/lib  # what setuptools keeps there would come back, modules that are gone too
	.venv-core/bin/python -m pip install --quiet --no-deps --force-reinstall .
	.venv-core/bin/python scripts/check_core.py

docs: .venv-dev/installed  ## build the documentation as a site, in build/site
	.venv-dev/bin/mkdocs build --strict --quiet

sabotage: .venv-dev/installed  ## put small mistakes into copies of the code; fails if the tests let one live
	.venv-dev/bin/python scripts/sabotage.py

kill: .venv-dev/installed  ## kill writers and commands a hundred times each; nothing may be lost, and the end be the same
	.venv-dev/bin/python scripts/kill_writer.py --kills 100
	.venv-dev/bin/python scripts/kill_commands.py --kills 100

damage: .venv-dev/installed  ## damage files ten thousand times; each must be refused in words, or read
	.venv-dev/bin/python scripts/mutate_files.py --times 10000

PHOTOS ?= src/tag2box/assets/demo/photos

soak: .venv-dev/installed  ## look at 2,000 photos in one process, in ten minutes; its memory may not grow
	.venv-dev/bin/python scripts/soak.py $(PHOTOS)

# What is installed is compiled when it is first imported: most of it never is.
export PIP_NO_COMPILE := 1

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

cluster: .venv-dev/installed  ## install Ray too, and check work on several machines: three of them on this one
	.venv-dev/bin/python -m pip install --quiet --editable '.[cluster]'
	.venv-dev/bin/pytest tests/cluster

SHIPPED := src/tag2box/assets/models/lite0
TABLES = $(sort $(wildcard experiments/*.toml))
BENCH = --data $(DATA) --store $(STORE) --model $(SHIPPED) $(if $(COCO63),--model $(COCO63)) --settings $(SHIPPED)/settings.json

results: .venv-dev/installed  ## run every table and write docs/results.md: DATA=… STORE=… and, for Table 3, COCO63=a model of its own
	.venv-dev/bin/tag2box bench run $(filter-out $(if $(COCO63),,experiments/table3-coco63.toml),$(TABLES)) $(BENCH)
	.venv-dev/bin/tag2box bench report $(TABLES) $(BENCH) -o docs

labelstudio: .venv-dev/installed .venv-labelstudio/installed  ## install Label Studio (1 GB) and check the doors into it against a real server
	TAG2BOX_LABEL_STUDIO=$(CURDIR)/.venv-labelstudio/bin/label-studio .venv-dev/bin/pytest tests/doors/label_studio

.venv-labelstudio/installed:
	$(PYTHON) -m venv .venv-labelstudio
	.venv-labelstudio/bin/python -m pip install --quiet label-studio==1.23.2
	touch $@

page: .venv-dev/installed node_modules/installed  ## install TypeScript and axe, and check the studio's page: types, and barriers for people
	TAG2BOX_PAGE_TOOLS=$(CURDIR)/node_modules .venv-dev/bin/pytest tests/web/test_page_rules.py

node_modules/installed: package.json
	npm install --no-audit --no-fund --no-package-lock
	touch $@

clean:  ## remove the environments and everything that was built
	rm -rf .venv .venv-core .venv-dev .venv-labelstudio node_modules build demo-run
