# `make` alone lists the targets. Everything runs in .venv, made on first use.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help try test check test-pythons lint bench quality survival docs pictures plugin dist clean

help: ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

try: $(VENV)/.user ## ingest a sample session and show what is known at its compaction
	@$(BIN)/holdfast try

test: $(VENV)/.dev lint ## install what the tests need and run them
	$(BIN)/python -m tools.chromium
	$(BIN)/python -m pytest -n auto --dist loadgroup

check: $(VENV)/.dev lint ## the quick part: lint, and tests that need no client, browser or database and are not slow
	$(BIN)/python -m pytest -n auto --dist loadgroup -q \
	  -m "not client and not browser and not database and not faults and not slow and not corpus"

test-pythons: $(VENV)/bin/python ## what needs no client, browser or database, on each Python found (PYTHONS="paths")
	$(BIN)/python -m tools.test_pythons $(PYTHONS)

lint: $(VENV)/.dev ## ruff, mypy strict, the import rule
	$(BIN)/ruff check src tests tools benchmarks examples
	$(BIN)/ruff format --check src tests tools benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/.dev ## measure speed as ratios in one run (CORPUS=folder of transcripts, GROWTH=50)
	$(BIN)/python -m benchmarks

quality: $(VENV)/.dev ## measure the text an agent is given (CORPUS=folder GOLD=folder; ARGS=--quick)
	HOLDFAST_CORPUS="$(or $(CORPUS),$(HOLDFAST_CORPUS))" HOLDFAST_GOLD="$(or $(GOLD),$(HOLDFAST_GOLD))" \
	  $(BIN)/python -m benchmarks.quality $(ARGS)

survival: $(VENV)/.dev ## measure what survives, as a control (CORPUS=folder)
	$(BIN)/python -m benchmarks.survival "$(or $(CORPUS),$(HOLDFAST_CORPUS))"

docs: $(VENV)/.dev ## build the documentation as a site into build/site, with every link checked
	$(BIN)/python -m mkdocs build --strict

pictures: $(VENV)/.dev ## draw the pictures of docs/ from real runs (CORPUS=folder: those of an audit too)
	HOLDFAST_CORPUS="$(or $(CORPUS),$(HOLDFAST_CORPUS))" $(BIN)/python -m tools.pictures

plugin: $(VENV)/.user ## write the generated files of plugin/
	$(BIN)/python -m tools.build_plugin

dist: $(VENV)/.dev ## build sdist and wheel into dist/, check them and list what is in them
	$(BIN)/python -m tools.build_dist

clean: ## remove what the targets above made
	rm -rf $(VENV) .venvs .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist

$(VENV)/bin/python:
	$(PYTHON) -m tools.make_venv $(VENV)

$(VENV)/.user: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.user
