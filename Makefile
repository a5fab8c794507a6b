# Two commands for a newcomer: `make demo` and `make test`. Both prepare .venv on their first run.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
READY := $(VENV)/ready

.PHONY: help demo test lint fuzz security nbgrader-tests clean
help:
	@echo "make demo    grade two classes in demo-course/, from release to feedback"
	@echo "make test    linters, types, import floors and every test"
	@echo "make lint    the linters and types alone"
	@echo "make fuzz    forty thousand mutations of the released notebooks, new ones each time"
	@echo "make nbgrader-tests   nbgrader's own shipped tests, against our configuration"
	@echo "make security         write the table of docs/security.md anew"
	@echo "make clean   remove .venv, demo-course/ and caches"

# torch first and alone, at its pin: a range, or another package's wish, may take a build of several GB.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or later is needed; name it with make PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet "$$(grep '^torch==' constraints.txt)"
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(READY)
	$(BIN)/deepdrills demo demo-course

lint: $(READY)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

fuzz: $(READY)
	DEEPDRILLS_FUZZ=20 $(BIN)/python -m pytest -n 2 tests/submissions/test_fuzz.py

# What is replaced: autograde, generate_feedback, export, validate and the preprocessors.
NBGRADER_TESTS := preprocessors apps.test_nbgrader_autograde apps.test_nbgrader_generate_feedback \
	apps.test_nbgrader_export apps.test_nbgrader_validate
nbgrader-tests: $(READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -c /dev/null --rootdir $(VENV) -p tests.nbgrader_own.plugin \
		-p no:cacheprovider -q -rx --pyargs $(addprefix nbgrader.tests.,$(NBGRADER_TESTS))

security: $(READY)
	$(BIN)/python -m tests.submissions.table

clean:
	rm -rf $(VENV) demo-course .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist *.egg-info
