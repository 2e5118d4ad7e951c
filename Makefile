# `make` alone lists the targets. Everything runs in .venv, made on first use.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
PIP     = $(BIN)/python -m pip install -q --disable-pip-version-check
PYTEST  = $(BIN)/python -m pytest -n auto --dist loadgroup
# What `make test` leaves to `make test-all`: what needs npm, a browser or transcripts, and what is long.
LONG    = npm or browser or faults or slow or corpus or (client and not core)
# Folders in which every test is long: to collect them alone costs each worker seconds.
SHORT   = -p no:schemathesis -m "not ($(LONG))" --ignore=tests/server/browser --ignore=tests/server/fuzzing \
  --ignore=tests/end_to_end/codex --ignore=tests/end_to_end/gemini --ignore=tests/end_to_end/opencode

.DEFAULT_GOAL := help
.PHONY: help try test test-all check test-newest test-pythons lint bench quality truth survival docs pictures plugin dist release clean

help: ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

try: $(VENV)/.user ## a recorded session: what its compaction kept, lost and would get back
	@$(BIN)/holdfast try

test: $(VENV)/.dev lint ## lint, and the tests: all that needs only PyPI, a real client and PostgreSQL among it
	$(PYTEST) $(SHORT)

test-all: $(VENV)/.dev ## the rest: npm's clients, a browser, kills, faults, fuzzing, transcripts
	$(BIN)/python -m tools.chromium || true  # says what to install; its tests are skipped
	$(PYTEST) -m "$(LONG)"

check: $(VENV)/.dev lint ## the quick part: lint, and tests that need no client, database or SDK and are not long
	$(PYTEST) -q $(SHORT) -m "not client and not database and not lengthy and not ($(LONG))" \
	  --ignore=tests/sdk --ignore=tests/survival_benchmark --ignore=tests/end_to_end

test-newest: $(VENV)/.dev ## fetch the newest release of every client and run the core scenarios on it
	$(BIN)/python -m tools.test_newest

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

truth: $(VENV)/.dev ## compare what the texts state with what is so: real shells, git, runners, wired hooks
	cd tests && ../$(BIN)/python -m truth

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

release: $(VENV)/.dev ## build, check, date the changelog, commit and tag; pushes nothing (ARGS=--dry-run changes nothing)
	$(BIN)/python -m tools.release $(ARGS)

clean: ## remove what the targets above made
	rm -rf $(VENV) .venvs .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist

$(VENV)/bin/python:
	$(PYTHON) -m tools.make_venv $(VENV)

$(VENV)/.user: $(VENV)/bin/python pyproject.toml
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(PIP) uv && $(BIN)/uv pip install -q --python $(BIN)/python -e '.[dev]' || $(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.user
