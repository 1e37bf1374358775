# Every command of the project. CI calls the same targets as a person.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := services shared tests
STAMP := $(VENV)/.installed

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

.PHONY: help
help: ## Print this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- environment -------------------------------------------------------------------------------

.PHONY: setup
setup: $(STAMP) ## Create .venv from the lock (PYTHON=python3.12 picks an interpreter)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; say which one with PYTHON=..." if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.PHONY: lock
lock: $(STAMP) ## Resolve requirements.lock again from pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
		--extra dev pyproject.toml -o requirements.lock

.PHONY: clean
clean: ## Remove caches and build output; .venv stays
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: openapi
openapi: $(STAMP) ## Write the documents that are made from the code
	$(BIN)/python -m tests.architecture.rendering

# --- running -----------------------------------------------------------------------------------

.PHONY: up
up: $(STAMP) ## Run everything on this machine; Ctrl-C stops it
	$(BIN)/knowgate up

.PHONY: migrate
migrate: $(STAMP) ## Bring the database of KNOWGATE_DATABASE_URL to this release
	$(BIN)/knowgate migrate

.PHONY: demo
demo: $(STAMP) ## Ingest real documents, ask questions, check the cited answers
	$(BIN)/knowgate demo

.PHONY: ingest-1000
ingest-1000: $(STAMP) ## Measure: ingest 1,000 generated Markdown files (COUNT=, WORKERS=)
	$(BIN)/knowgate load many-files --count $(or $(COUNT),1000) --workers $(or $(WORKERS),1)

.PHONY: big-file
big-file: $(STAMP) ## Measure: upload one file of 1 GiB (MIB=)
	$(BIN)/knowgate load big-file --mib $(or $(MIB),1024)

.PHONY: fairness
fairness: $(STAMP) ## Measure: one tenant's document while another has up to 10,000 queued (COUNT=, 2000 or more)
	$(BIN)/knowgate load fairness --count $(or $(COUNT),10000)

# --- checking ----------------------------------------------------------------------------------

.PHONY: fuzz
fuzz: $(STAMP) ## Send generated requests to a gateway of its own (CASES=, SEED=)
	CASES="$(CASES)" SEED="$(SEED)" $(BIN)/python -m tests.fuzz

.PHONY: matrix
matrix: $(STAMP) ## Walk through who may do what, route by route
	$(BIN)/python -m tests.matrix

.PHONY: chaos
chaos: $(STAMP) ## Break things for ten minutes under load, then check the ten invariants (MINUTES=, SEED=)
	@MINUTES="$(MINUTES)" SEED="$(SEED)" $(BIN)/python -m tests.chaos

.PHONY: poison
poison: $(STAMP) ## Put in what is bad, and good documents after it (GOOD=)
	$(BIN)/python -m tests.poison

.PHONY: soak
soak: $(STAMP) ## Measure how memory grows under a steady load (MINUTES=)
	$(BIN)/python -m tests.soak

.PHONY: reconnect
reconnect: $(STAMP) ## Restart the broker 1,000 times while work flows (RESTARTS=, SEED=, CLUSTER=1)
	@RESTARTS="$(RESTARTS)" SEED="$(SEED)" CLUSTER="$(CLUSTER)" $(BIN)/python -m tests.reconnect

.PHONY: check
check: format-check lint types imports ## All static checks

.PHONY: test
test: $(STAMP) ## The whole test suite (ARGS="tests/unit -k citation" picks some)
	$(BIN)/pytest $(ARGS)

.PHONY: conformance
conformance: $(STAMP) ## Check every rule of the contract over HTTP, as a strict client
	@$(BIN)/python -m tests.conformance

.PHONY: fmt
fmt: $(STAMP) ## Format the code and apply safe fixes
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

.PHONY: format-check
format-check: $(STAMP)
	$(BIN)/ruff format --check $(SOURCES)

.PHONY: lint
lint: $(STAMP) ## Lint
	$(BIN)/ruff check $(SOURCES)

.PHONY: types
types: $(STAMP) ## Check types
	$(BIN)/mypy

.PHONY: imports
imports: $(STAMP) ## Check who may import whom
	$(BIN)/lint-imports --no-logo
