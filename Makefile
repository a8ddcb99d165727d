# Everything happens in a private environment, .venv, with the versions of constraints.txt.
# Needed beforehand: Python 3.11 or later, make and git.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --constraint constraints.txt
SOURCES := $(shell find dictsel_core inpaint_app assets -name __pycache__ -prune -o -print)
TYPED := $(wildcard dictsel_core inpaint_app benchmarks experiments)
WORKERS ?= auto

.PHONY: help run test bench lint lock clean
.NOTPARALLEL:

help:
	@echo "make run    open the window on a sample (make run ARGS='--help' passes arguments)"
	@echo "make test   every check and every test  (make test PYTEST_ARGS='-k omp' narrows the tests)"
	@echo "make lint   the checks alone: style, types, import contracts"
	@echo "make bench  speed and quality against peers"
	@echo "make lock   resolve the dependencies anew and rewrite constraints.txt"
	@echo "make clean  remove the environment and all caches"

run: $(VENV)/.package
	@.ci/qt-libraries $(BIN)/python
	@$(BIN)/python -P -m inpaint_app $(ARGS)

# -P keeps the checkout off the import path: the tests see the installed package.
test: lint $(VENV)/.package
	@.ci/qt-libraries $(BIN)/python
	$(BIN)/python -P -m pytest -n $(WORKERS) $(PYTEST_ARGS)

lint: $(VENV)/.extra-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(TYPED)
	$(BIN)/lint-imports --no-logo

bench: $(VENV)/.extra-bench $(VENV)/.package
	$(BIN)/python -m benchmarks all

$(VENV)/.made:
	@rm -rf $(VENV)
	@for python in python3.11 python3 python3.12 python3.13; do \
	    $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    echo "Making $(VENV) with $$($$python --version)."; \
	    $$python -m venv $(VENV) && touch $@ && exit 0; \
	    echo "$$python could not make a virtual environment; on Debian and Ubuntu, install python3-venv." >&2; \
	    exit 1; \
	done; \
	echo "Python 3.11 or later is needed, and none was found as python3.11 or python3." >&2; exit 1

# The build backend comes first, so that the package is built with a pinned one too.
$(VENV)/.dependencies: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing the dependencies."
	@$(INSTALL) hatchling
	@$(INSTALL) --no-build-isolation .
	@touch $@

$(VENV)/.extra-%: $(VENV)/.dependencies
	@echo "Installing what $* needs."
	@$(INSTALL) --no-build-isolation '.[$*]'
	@touch $@

$(VENV)/.package: $(VENV)/.dependencies $(SOURCES)
	@echo "Installing the package."
	@$(INSTALL) --no-deps --no-build-isolation --force-reinstall .
	@touch $@

lock:
	@rm -rf .venv-lock
	python3.11 -m venv .venv-lock
	.venv-lock/bin/python -m pip --disable-pip-version-check install --quiet '.[bench,experiments,dev]'
	.venv-lock/bin/python -m pip freeze --exclude dictsel > .venv-lock/constraints.txt
	@mv .venv-lock/constraints.txt constraints.txt
	@rm -rf .venv-lock

clean:
	rm -rf $(VENV) .venv-lock build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
