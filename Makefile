# Everything here works from a fresh clone: each target first makes .venv and installs what is missing.
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format bench screenshots samples docs wheel clean

BIN := .venv/bin
HAS_SCREEN := $(shell test -n "$$DISPLAY$$WAYLAND_DISPLAY" -o "$$(uname -s)" = Darwin && echo yes)

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup:  ## make .venv, install ctxviewer with its tools, and system libraries that are missing
	@scripts/setup.sh

demo: setup  ## open the sample tasks; without a screen, draw the window to build/demo.png and print the report
ifeq ($(HAS_SCREEN),yes)
	$(BIN)/ctxviewer --demo
else
	@mkdir -p build
	QT_QPA_PLATFORM=offscreen QT_LOGGING_RULES=default.warning=false $(BIN)/ctxviewer screenshot --demo --request 18 --message 1 --size 1440x900 -o build/demo.png
	@$(BIN)/ctxviewer report --demo
	@echo; echo "The window is drawn in build/demo.png."
endif

test: setup  ## run all tests
	$(BIN)/pytest -n 2 --dist worksteal

lint: setup  ## format check, ruff, mypy and the layer contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup  ## format the sources and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup  ## measure against the bars on a generated 123 MB task (a few minutes)
	$(BIN)/python -m tests.bench

screenshots: setup  ## draw the pictures of the README
	QT_LOGGING_RULES=default.warning=false $(BIN)/python scripts/make_screenshots.py

samples: setup  ## write resources/samples anew
	$(BIN)/python scripts/make_samples.py

docs: setup  ## write the tables of actions and keys anew
	$(BIN)/python scripts/make_docs.py

wheel: setup  ## build the wheel and prove it in an empty environment outside the checkout
	scripts/prove_wheel.sh

clean:  ## remove what the targets made, but not .venv
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
