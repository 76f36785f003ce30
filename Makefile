# What CI runs, by name. `make setup` makes the environment that the other targets use.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin

.PHONY: setup check test kill docs lock bench-job bench-engine bench-schedule bench-gate bench-help bench-model-goals

setup:
	$(PYTHON) -m venv $(VENV) && $(BIN)/pip install -q -r requirements/dev.txt -e .

check:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# In two processes (`addopts` in pyproject.toml). A single test is quicker in one, and a debugger needs it:
# .venv/bin/python -m pytest -n 0 tests/masks/test_vector.py
test:
	$(BIN)/python -m pytest

# Not part of `test`: kill -9 at 200 random times and at each boundary of four runs; fails if one makes a difference.
kill:
	$(BIN)/python -m tests.kill.many --points 200 --seed 7

# Pages that are written from the code; the tests compare them.
docs:
	$(BIN)/python -m tests.docs.event_catalogue
	MASKGRAD_WRITE_DOCS=1 $(BIN)/python -m pytest -q tests/interfaces/cli/test_help.py

# Exact versions for every supported Python and platform; needs uv.
lock:
	uv pip compile --universal --python-version 3.11 --no-annotate --no-header --quiet pyproject.toml -o requirements/run.txt
	uv pip compile --universal --python-version 3.11 --no-annotate --no-header --quiet pyproject.toml --group dev -o requirements/dev.txt

bench-job:
	$(BIN)/python -m benchmarks.job --data $(DATA)

bench-engine:
	$(BIN)/python -m benchmarks.engine

bench-schedule:
	$(BIN)/python -m benchmarks.schedule --data $(DATA)

bench-gate:
	$(BIN)/python -m benchmarks.gate --data $(DATA)

bench-help:
	$(BIN)/python -m benchmarks.help

bench-model-goals:
	$(BIN)/python -m benchmarks.model_goals --model $(MODEL) $(if $(BASE_URL),--base-url $(BASE_URL))
