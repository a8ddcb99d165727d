# Everything happens in a private environment, .venv, with the versions of constraints.txt.
# Needed beforehand: Python 3.11 or later, make and git; at the first run, a network.

VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find dictsel_core inpaint_app assets -name __pycache__ -prune -o -print)
TYPED := $(wildcard dictsel_core inpaint_app benchmarks experiments)
PYTHON ?=
WORKERS ?= auto

.PHONY: help run test bundle test-bundle dist release-check test-all test-core test-lowest test-napari bench docs experiments lint lock clean
.NOTPARALLEL:

help:
	@echo "make run    open the window on a sample (make run ARGS='--help' passes arguments)"
	@echo "make test   every check and every test  (make test PYTEST_ARGS='-k omp' narrows the tests)"
	@echo "make lint   the checks alone: style, types, import contracts"
	@echo "make test-all   every test on each supported Python of this machine"
	@echo "make test-core  the core's tests on each other supported Python of this machine"
	@echo "make test-lowest  the core's tests with the lowest versions that pyproject.toml allows"
	@echo "make test-napari  the tests of the napari plug-in with napari, in an environment of its own"
	@echo "make docs   build the documentation as a site: docs/_build/html/index.html"
	@echo "make bench  speed and quality against peers"
	@echo "make experiments  the paper's figures in minutes  (ARGS='all' for the full runs)"
	@echo "make bundle a program to unpack and start, without Python: dist/Inpaint-*.tar.xz"
	@echo "make test-bundle  drive it in a bare Debian (as root)"
	@echo "make dist   wheel and source, checked"
	@echo "make release-check  everything that must hold before a release"
	@echo "make lock   resolve the dependencies again and rewrite constraints.txt"
	@echo "make clean  remove the environments and all caches"
	@echo "PYTHON=python3.13 chooses the Python of a new environment; NO_APT=1 keeps apt-get from being called."

run: $(VENV)/.extra-app $(VENV)/.package $(VENV)/.compiled
	@.ci/qt-libraries $(BIN)/python
	@$(BIN)/python -P -m inpaint_app $(ARGS)

# -P keeps the checkout off the import path: the tests see the installed package.
test: lint $(VENV)/.extra-experiments $(VENV)/.extra-fits $(VENV)/.extra-cluster $(VENV)/.package
	@.ci/qt-libraries $(BIN)/python
	@.ci/clean-environment .ci/test $(BIN)/python -n $(WORKERS) $(PYTEST_ARGS)
ifneq ($(filter-out 0 false,$(CI)),)
	@.ci/test-pythons core $(BIN)/python -n $(WORKERS) -m 'not slow'
endif

test-all: test
	@.ci/test-pythons all $(BIN)/python -n $(WORKERS) $(PYTEST_ARGS)

test-core: $(VENV)/.made
	@.ci/test-pythons core $(BIN)/python -n $(WORKERS) $(PYTEST_ARGS)

test-lowest: $(VENV)/.made
	@.ci/test-lowest $(BIN)/python -n $(WORKERS) $(PYTEST_ARGS)

test-napari: $(VENV)/.made
	@.ci/test-napari $(BIN)/python $(PYTEST_ARGS)

lint: $(VENV)/.extra-app $(VENV)/.extra-dev
	.ci/clean-environment $(BIN)/ruff check .
	.ci/clean-environment $(BIN)/ruff format --check .
	.ci/clean-environment $(BIN)/mypy $(TYPED)
	.ci/clean-environment $(BIN)/lint-imports --no-logo

bench: $(VENV)/.extra-bench $(VENV)/.package
	$(BIN)/python -m benchmarks all

# -W: warnings are errors.
docs: $(VENV)/.extra-docs $(VENV)/.package
	$(BIN)/python -P -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html."

experiments: $(VENV)/.extra-experiments
	$(BIN)/python -m experiments $(or $(ARGS),all --quick)

bundle: $(VENV)/.made
	@[ -x .venv-bundle/bin/python ] || .ci/make-environment .venv-bundle $(PYTHON)
	@for purpose in run app bundle package; do .ci/install .venv-bundle/bin/python $$purpose || exit 1; done
	@.ci/clean-environment .venv-bundle/bin/python .ci/bundle/build.py

test-bundle:
	@.ci/bundle/test dist/Inpaint-*.tar.xz $(RELEASE)

dist: $(VENV)/.extra-release
	@rm -f dist/dictsel-*
	$(BIN)/python -m build --no-isolation
	$(BIN)/twine check --strict dist/dictsel-*

release-check:
	@.ci/release-check

$(VENV)/.made:
	@.ci/make-environment $(VENV) $(PYTHON)
	@touch $@

$(VENV)/.dependencies: $(VENV)/.made constraints.txt
	@echo "Installing the dependencies."
	@.ci/install $(BIN)/python run
	@touch $@

$(VENV)/.extra-%: $(VENV)/.dependencies
	@echo "Installing what $* needs."
	@.ci/install $(BIN)/python $*
	@touch $@

# The build backend is among the dependencies, so that the package is built with a pinned one too.
$(VENV)/.package: $(VENV)/.dependencies $(SOURCES) pyproject.toml README.md LICENSE
	@echo "Installing the package."
	@.ci/install $(BIN)/python package
	@touch $@

$(VENV)/.compiled: $(VENV)/.extra-app $(VENV)/.package
	@echo "Compiling what takes longest."
	@.ci/clean-environment $(BIN)/python -P .ci/compile_kernels.py
	@touch $@

lock: $(VENV)/.made
	@rm -rf .venv-lock
	$(BIN)/python -m venv .venv-lock
	.venv-lock/bin/python -m pip --disable-pip-version-check install --quiet uv
	.venv-lock/bin/python .ci/lock.py .venv-lock/bin/uv
	@rm -rf .venv-lock

clean:
	rm -rf docs/_build docs/api/generated docs/gallery_built $(VENV) .venv-* build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
