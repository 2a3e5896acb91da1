# The index of everything a developer does here. Each target sets up what it needs in .venv.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode

# Compiled modules are kept: a process that starts, and the tests start hundreds, does not compile ours anew.
unexport PYTHONDONTWRITEBYTECODE

# The rooms that hold the guarantees: their coverage may not fall below COVERAGE_FLOOR per cent. Tracing costs minutes, so the
# full run does it.
COVERAGE_FLOOR := 90
COVERAGE_ROOMS := */vskill_platform/domain/*,*/vskill_platform/ports/*,*/vskill_platform/stores/*,*/vskill_platform/moving/*,*/vskill_platform/worker/*,*/vskill_platform/ingest/*,*/vskill_platform/scanning/*,*/vskill_platform/pipeline/*,*/vskill_platform/engines/*,*/vskill_platform/worker_context.py

# One test more at a time than there are cores, since many wait for processes of their own; each starts and stops its servers.
RUN_PYTEST = $(BIN)/python -m pytest --numprocesses=$(shell expr $$(nproc) + 1) --dist=worksteal

# External scanners that tests run for real, each in an environment of its own.
SCANNERS := bandit detect-secrets semgrep cisco-ai-skill-scanner snyk-agent-scan
# Programs that other people install skills with, each in a folder of its own below .venv/clients, pinned in requirements/clients.
# Those of npm come with the Node they run on; those of Python are small enough for `make test`.
CLIENTS := $(VENV)/clients
NPM_CLIENTS := node-20 node-22 skills-1.4.4 skills-1.5.18 skills-1.7.4 clawhub-0.20.0 clawhub-0.23.3
PYTHON_STAMPS := $(STAMPS)/python-apm-cli $(STAMPS)/python-skills-ref
CLIENT_STAMPS := $(NPM_CLIENTS:%=$(STAMPS)/npm-%) $(PYTHON_STAMPS)
# What passes is noted in tests/clients/results, from which the table of clients is written.
PROVE_CLIENTS = $(BIN)/python -m pytest -p tests.clients.recording -m "clients or proves" --timeout=600
CLAUDE_STAMPS := $(STAMPS)/npm-node-22 $(STAMPS)/npm-claude-2.1.325

# What every test run needs on the machine: a database, a browser, and the programs of others that `make test` runs.
TEST_STAMPS := $(STAMPS)/patterns $(STAMPS)/postgres $(STAMPS)/chromium $(STAMPS)/scanner-bandit $(PYTHON_STAMPS)

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: $(STAMPS)/patterns ## Start the registry (ARGS="--help" passes arguments on)
	$(BIN)/vskill-platform up $(ARGS)

.PHONY: test
test: check $(TEST_STAMPS) ## Check, and run the tests
	$(RUN_PYTEST)

.PHONY: test-full
test-full: check $(TEST_STAMPS) ## The same with the tests that run the stated counts; holds the coverage
	$(RUN_PYTEST) --cov --cov-report= -m "not faults and not external and not clients"
	$(BIN)/coverage report --include='$(COVERAGE_ROOMS)' --fail-under=$(COVERAGE_FLOOR)

.PHONY: test-external
test-external: $(STAMPS)/dev $(STAMPS)/patterns $(SCANNERS:%=$(STAMPS)/scanner-%) ## Run the tests that ask real scanners of other makes (1 GB, installed once)
	$(BIN)/python -m pytest -m external --timeout=1800 tests/external

.PHONY: test-clients
test-clients: $(STAMPS)/dev $(CLIENT_STAMPS) ## Run the real clients of other makes against the registry, without any other network
	scripts/alone.sh $(PROVE_CLIENTS) tests/clients

.PHONY: test-claude
test-claude: $(STAMPS)/dev $(CLAUDE_STAMPS) ## The same with Claude Code, which is large and not free software
	scripts/alone.sh $(PROVE_CLIENTS) tests/clients/test_claude.py

.PHONY: check
check: $(STAMPS)/dev ## Format, lint, types and the rules of the house
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

.PHONY: format
format: $(STAMPS)/dev ## Mend format and what the linter can mend
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

.PHONY: bench
bench: $(STAMPS)/bench $(STAMPS)/patterns $(STAMPS)/postgres $(PYTHON_STAMPS) ## Run the benchmarks (ONLY=name runs one)
	$(BIN)/python -m benchmarks $(ONLY)

.PHONY: faults
faults: $(STAMPS)/dev $(STAMPS)/patterns $(STAMPS)/postgres ## Run the long fault tests
	$(BIN)/python -m pytest --numprocesses=auto -m faults --timeout=3600

.PHONY: docs
docs: $(STAMPS)/dev ## Write the reference pages and the scanner's figures from the code
	$(BIN)/python -m tools.reference
	$(BIN)/python -m tools.accuracy

.PHONY: learn
learn: DOCUMENTS ?= $(wildcard $(VENV)/lib /usr/share/doc)
learn: $(STAMPS)/learn ## Learn anew what passages of attacks are made of (DOCUMENTS="folder ..." are honest texts beside our own)
	$(BIN)/python -m tools.learn_likeness $(DOCUMENTS)

.PHONY: pictures
pictures: $(STAMPS)/dev $(STAMPS)/patterns $(STAMPS)/chromium ## Draw the pictures of the documents from real runs
	$(BIN)/python -m tools.pictures

.PHONY: lock
lock: $(STAMPS)/uv $(STAMPS)/npm ## Compile the requirement files (UPGRADE=1 takes newer versions)
	scripts/lock.sh $(if $(UPGRADE),--upgrade)
	scripts/lock-npm-clients.sh

.PHONY: clean
clean: ## Remove .venv, caches and build output; data/ stays
	rm -rf $(VENV) build dist .coverage .coverage.* htmlcov
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -not -path './data/*' -prune -exec rm -rf {} +

# An environment whose Python is gone, or that was made for another folder, is made anew.
VENV_WORKS := $(shell test -x $(BIN)/python && grep -qsF '$(CURDIR)/$(VENV)' $(BIN)/activate && echo yes)

.PHONY: recreate
$(STAMPS)/venv: $(if $(VENV_WORKS),,recreate)
	@scripts/create-venv.sh $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/uv: $(STAMPS)/venv requirements/uv.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

$(STAMPS)/runtime: $(STAMPS)/uv requirements/runtime.txt requirements/build.txt pyproject.toml
	@echo "Installing requirements/runtime.txt and the project"
	@$(INSTALL) --require-hashes -r requirements/runtime.txt -r requirements/build.txt
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

# What the scanner looks for, compiled ahead. Those that are there already are not compiled again.
$(STAMPS)/patterns: $(STAMPS)/runtime $(shell find src/vskill_platform/scanning/tier1 -name '*.py' -o -name '*.toml')
	@$(BIN)/vskill-platform compile-rules
	@touch $@

$(STAMPS)/dev: $(STAMPS)/runtime requirements/dev.txt
	@echo "Installing requirements/dev.txt"
	@$(INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

$(STAMPS)/bench: $(STAMPS)/dev requirements/bench.txt
	@echo "Installing requirements/bench.txt"
	@$(INSTALL) --require-hashes -r requirements/bench.txt
	@touch $@

$(STAMPS)/learn: $(STAMPS)/dev requirements/learn.txt
	@echo "Installing requirements/learn.txt"
	@$(INSTALL) --require-hashes -r requirements/learn.txt
	@touch $@

$(STAMPS)/scanner-%: src/vskill_platform/scanning/external/requirements/%.txt $(STAMPS)/runtime
	@VSKILL_PLATFORM_SCANNERS_FOLDER=$(VENV)/scanners $(BIN)/vskill-platform scanners install $*
	@touch $@

$(STAMPS)/postgres: $(STAMPS)/venv scripts/ensure-postgres.sh
	@scripts/ensure-postgres.sh
	@touch $@

$(STAMPS)/chromium: $(STAMPS)/venv scripts/ensure-chromium.sh
	@scripts/ensure-chromium.sh
	@touch $@

$(STAMPS)/npm: $(STAMPS)/venv scripts/ensure-npm.sh
	@scripts/ensure-npm.sh
	@touch $@

$(STAMPS)/npm-%: $(STAMPS)/npm requirements/clients/%/package-lock.json scripts/install-npm-client.sh
	@scripts/install-npm-client.sh $* $(CLIENTS)
	@touch $@

$(STAMPS)/python-%: $(STAMPS)/uv requirements/clients/%.txt
	@echo "Installing requirements/clients/$*.txt"
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(CLIENTS)/$*
	@$(BIN)/uv pip install --quiet --python $(CLIENTS)/$*/bin/python --compile-bytecode --require-hashes -r requirements/clients/$*.txt
	@touch $@
