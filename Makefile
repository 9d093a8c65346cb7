# Everything a person does with this checkout. `make help` lists it; only the two first lines are for users.
# The environment is .venv in this folder. Stamp files inside it say what has been installed, so that a
# second run starts at once and a changed pyproject.toml installs again.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The Python to make .venv with; empty means the first one found that is new enough.
PYTHON ?=
# More options for JupyterLab, as in `make lab LAB_ARGS=--no-browser`.
LAB_ARGS ?=
# More options for pytest, as in `make test PYTEST_ARGS="-k fusion"`.
PYTEST_ARGS ?=
# How many damaged texts `make fuzz` reads.
FUZZ_COUNT ?= 100000

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: help lab test test-all check format bench fuzz clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

lab: $(VENV)/.made-lab ## make .venv with all compilers, open notebooks/quickstart.ipynb in JupyterLab
	@root=$$([ "$$(id -u)" = 0 ] && echo --allow-root || true); \
	exec $(BIN)/jupyter lab $$root --LabApp.default_url=/lab/tree/notebooks/quickstart.ipynb $(LAB_ARGS)

test: check chromium ## make .venv with the test tools, run every check and the whole suite but its slow tests
	$(BIN)/python -m pytest -m "browser and not slow" $(PYTEST_ARGS)

test-all: check chromium ## the same and the slow tests
	$(BIN)/python -m pytest -m "browser or slow" $(PYTEST_ARGS)

# The tests that need no browser run here under coverage, so that `make test` runs each test once.
check: $(VENV)/.made-test ## lint, format, types, layers, quick tests with a coverage report
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/coverage run -m pytest -m "not browser and not slow" $(PYTEST_ARGS)
	$(BIN)/coverage report

format: $(VENV)/.made-test ## put the code into shape and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.made-test chromium ## run the benchmarks: medians and ratios
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python "$$script"; done

fuzz: $(VENV)/.made-test ## search for text that breaks the reader, by FUZZ_COUNT (100,000) mutations
	$(BIN)/python -m tests.hlo.fuzz $(FUZZ_COUNT)

clean: ## remove .venv and every cache
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage htmlcov

.PHONY: chromium
chromium: $(VENV)/.made-test
	@$(BIN)/python -m tests.browser.install_chromium

$(VENV)/.made-lab: pyproject.toml $(VENV)/.made
	$(PIP) install --editable '.[lab,tpu,cuda]'
	@touch $@

$(VENV)/.made-test: pyproject.toml $(VENV)/.made
	$(PIP) install --editable '.[lab,tpu,cuda]' --group test
	@touch $@ $(VENV)/.made-lab

# An environment that is there already is used as it is. pip 25.1 is the first that knows --group.
$(VENV)/.made:
	@if ! $(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  bash .ci/make_venv $(VENV) $(PYTHON); \
	fi
	$(PIP) install --quiet --upgrade 'pip>=25.1'
	@touch $@
