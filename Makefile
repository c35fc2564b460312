# Every target makes its own virtual environment, builds the core and runs: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

SOURCES := pyproject.toml CMakeLists.txt $(wildcard cpp/*/*.hpp cpp/bindings/*.cpp)

.PHONY: demo test lint bench coverage docs linkcheck linkcheck-outside wheel feast sanitize fuzz stubs page clean

demo: $(VENV)/.built
	$(BIN)/farthing demo

# One worker a core, and one more, since a third of the time goes by waiting for servers, browsers and clusters. Threads
# within workers would only stand in each other's way. Bytecode is kept, whatever the environment says: workers, and
# the dozens of processes that tests start, would each compile everything again.
WORKERS = $(shell $(PYTHON) -c 'import os; print(1 + len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else "auto")')
PYTEST = PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test: $(VENV)/.built data-note
	$(PYTEST)

lint: $(VENV)/.built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

# Lines and branches of src that the tests run; the page is build/coverage/index.html.
coverage: $(VENV)/.built data-note
	$(PYTEST) --cov --cov-report=term --cov-report=html:build/coverage

# The site, in build/site/html. Warnings are errors, and every example is run.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs build/site/html

# The links inside the site and the README; then those to other hosts, which need the network and change by themselves.
linkcheck: docs
	$(BIN)/python tools/check_links.py build/site/html

linkcheck-outside: $(VENV)/.docs
	$(BIN)/python -m sphinx -b linkcheck -D plot_gallery=False docs build/site/links

# The wheel of this machine and Python, in dist; releases are built by .github/workflows/wheels.yml.
wheel: $(VENV)/.built
	$(BIN)/python -m pip wheel --no-deps --no-build-isolation --wheel-dir dist .

# Feast wants a pandas below that of the other tests, so its tests have an environment of their own, with the wheel. They
# are skipped without Feast, so that it is imported first.
feast: wheel
	test -x build/feast/bin/python || $(PYTHON) -m venv build/feast
	build/feast/bin/python -m pip install --quiet "$$(ls -t dist/farthing-*.whl | head -n 1)[feast]" "pandas<3" "pytest>=8" "hypothesis>=6.100"
	build/feast/bin/python -m pip install --quiet --no-deps --force-reinstall "$$(ls -t dist/farthing-*.whl | head -n 1)"
	build/feast/bin/python -c "import feast"
	build/feast/bin/python -m pytest tests/sources/test_feast.py

sanitize:
	@$(MAKE) --no-print-directory check-compiler
	cmake -S . -B build/sanitize -DFARTHING_TESTS=ON -DFARTHING_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug
	cmake --build build/sanitize
	build/sanitize/core_tests

fuzz: $(VENV)/.built
	$(BIN)/python -m experiments.fuzz.fuzz --only files --files 20000

stubs: $(VENV)/.built
	$(BIN)/python -m nanobind.stubgen -m farthing._core -o src/farthing/_core.pyi

# The page that the service shows, from its TypeScript sources; needs Node.
page:
	npm ci --prefix web --ignore-scripts --no-audit --no-fund
	npm run --prefix web check
	npm run --prefix web test
	npm run --prefix web build

clean:
	rm -rf $(VENV) build

.PHONY: check-compiler check-python data-note
data-note:
	@test -n "$$FARTHING_DATA" || echo "note: FARTHING_DATA names no folder of larger tables, so tests that need them are skipped; see CONTRIBUTING.md"

check-python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Farthing needs Python 3.11 or later; '$(PYTHON)' is not. Install it, or name one: make PYTHON=python3.12 test"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "Python's venv module is missing. Debian, Ubuntu: apt install python3-venv"; exit 1; }

check-compiler:
	@command -v "$${CXX:-c++}" >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || command -v clang++ >/dev/null 2>&1 || { \
	  echo "Farthing's core is C++17 and no C++ compiler was found. Install one and run make again:"; \
	  echo "  Debian, Ubuntu:  apt install g++"; \
	  echo "  Fedora:          dnf install gcc-c++"; \
	  echo "  macOS:           xcode-select --install"; \
	  echo "or point CXX at one you have."; exit 1; }

$(VENV)/.tools: pyproject.toml
	@$(MAKE) --no-print-directory check-python check-compiler
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.11" "nanobind>=2.4" cmake ninja
	@touch $@

$(VENV)/.built: $(VENV)/.tools $(SOURCES)
	@$(MAKE) --no-print-directory check-compiler
	$(BIN)/python -m pip install --quiet --no-build-isolation -e ".[dev]"
	@touch $@

$(VENV)/.bench: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --no-build-isolation -e ".[dev,bench]"
	@touch $@

$(VENV)/.docs: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --no-build-isolation -e ".[dev,docs]"
	@touch $@
