# The two commands are `make book` and `make test`. Each sets up what it needs, and neither does anything twice.

# The versions of Python 3 that pyproject.toml lets in: from the first number on, below the second.
MINORS := $(shell sed -n 's/^requires-python = ">=3\.\([0-9]*\),<3\.\([0-9]*\)"$$/\1 \2/p' pyproject.toml)
LOW := $(word 1,$(MINORS))
HIGH := $(word 2,$(MINORS))
FITS := import sys; sys.exit(not (3, $(LOW)) <= sys.version_info[:2] < (3, $(HIGH)))
PYTHON ?= $(shell for python in python3 $$(seq -f python3.%g $(HIGH) -1 $(LOW)) python; do \
	$$python -c '$(FITS)' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# There is a kernel, or a test, on each processor already.
export OPENBLAS_NUM_THREADS = 1

# Folders are listed with their files, so that a deleted file counts as a change.
files = $(shell find $(1) -not -path '*/.*' -not -path '*__pycache__*')
PACKAGE := requirements.txt $(call files,fairlib)
BOOK := _config.yml _toc.yml benchmarks/latest.json benchmarks/arena.json $(call files,chapters)
TESTS := pyproject.toml $(call files,tests) $(call files,benchmarks)

.PHONY: help book test test-pages test-full arena bench print offline lab lock clean

help: ## list the commands
	@awk -F ':.* ## ' '/^[a-z-]+:.* ## /{printf "make %-11s %s\n", $$1, $$2}' Makefile

book: _build/book.done ## build the book, and say which file to open
	@echo "The book is built and up to date. Open this file in a browser:"
	@echo "    $(CURDIR)/_build/html/index.html"

test: _build/test.done ## run every chapter and the package's tests, load each page, and check code and types
	@echo "These tests passed on these very sources. (The rest: make test-pages. To run all again: $(BIN)/pytest)"

test-pages: _build/pages.done ## try the pages: on phones, by hand, on paper, in JupyterLab, for readers who can't see them
	@echo "The tests of the pages passed on these very sources."

# The environment is the lock and nothing else, so a changed lock starts a new one.
.venv/lock.done: requirements.txt
	@test -n "$(PYTHON)" && $(PYTHON) -c '$(FITS)' || { echo "The book needs Python 3.$(LOW) or later, below 3.$(HIGH)." \
		"Install one, or name it: make PYTHON=/path/to/python3.$(LOW)"; exit 1; }
	@echo "Installing the pinned packages into .venv ($$($(PYTHON) --version))"
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/pip install --quiet --no-compile --require-hashes -r requirements.txt
	@$(BIN)/pip install --quiet --no-compile --no-deps --no-build-isolation -e .
	@touch $@

# Sphinx executes the chapters whose code has changed, or all of them if the package has (chapters/extensions/execution.py).
# After a warning the pages that were read are dropped: Sphinx warns about a page only when it reads it, so the next build
# would pass. What is compiled here is younger than __pycache__, whose making changes a folder and would look like an edit.
_build/book.done: .venv/lock.done $(PACKAGE) $(BOOK)
	@echo "Running the chapters and building the book (warnings are errors)"
	@$(BIN)/python -m compileall -q fairlib
	@$(BIN)/jupyter-book build --all -W -n --keep-going . || { rm -rf _build/.doctrees; exit 1; }
	@touch $@

# What is left to `make test-pages`: all but that each page loads.
PAGES = $(filter-out tests/pages/test_loads.py,$(wildcard tests/pages/test_*.py))
CHECKED = $(PACKAGE) $(BOOK) $(TESTS)

# A test that hangs ends the run, and the report says where it stood. Not for all of pytest: in test-full a test may take hours.
LIMITED = -o faulthandler_timeout=1500 -o faulthandler_exit_on_timeout=true --max-worker-restart 0

# nbval runs each chapter once more, as a notebook. The types are checked beside the tests, on the processor that is idle
# when the last of them run. The browser test opens the built pages.
_build/test.done: $(CHECKED) | _build/book.done
	@echo "Running every chapter, the package's tests, the linter and the type checker"
	@$(BIN)/ruff check --quiet && $(BIN)/ruff format --quiet --check
	@$(BIN)/mypy --no-error-summary & types=$$!; $(BIN)/pytest $(LIMITED) $(PAGES:%=--ignore=%); tests=$$?; \
		wait $$types && exit $$tests
	@touch $@

_build/pages.done: $(CHECKED) | _build/book.done
	@echo "Trying the pages"
	@$(BIN)/pytest $(LIMITED) $(PAGES)
	@touch $@

# What is stored of the trials, in chapters/trials.csv, is what the book shows: look at each line that has changed.
test-full: .venv/lock.done ## try all that is tried by samples: bounds and properties (hours)
	@PROPERTIES=full $(BIN)/pytest tests
	@TRIALS=full $(BIN)/pytest -n0 tests/test_trials.py -k holds
	@PYTHONPATH=tests $(BIN)/python -m bound_trials

# What is stored, in benchmarks/arena.json, is what the book shows; on the same versions each number is the same again.
arena: .venv/lock.done ## play all games of the arena anew, and store what came of it (ten minutes)
	@PYTHONPATH=chapters/extensions $(BIN)/python tests/arena_record.py

# With AGAINST=folder, another checkout, or ONLY=words no record is made. What it takes goes into a folder of its own.
bench: .venv/lock.done ## measure what a round costs, against loops in C (minutes; needs a C compiler)
	@command -v $(CC) >/dev/null || { echo "There is no C compiler '$(CC)'. Name one: make bench CC=clang"; exit 1; }
	@$(BIN)/pip install --quiet --require-hashes --no-deps --upgrade --target _build/bench -r benchmarks/requirements.txt
	@echo "Measuring; best on a machine that has nothing else to do"
	@CC=$(CC) PYTHONPATH=_build/bench $(BIN)/pytest -c benchmarks/pytest.ini benchmarks -q --benchmark-disable-gc \
		--benchmark-timer=time.process_time --benchmark-quiet --benchmark-json=_build/bench/raw.json \
		$(if $(AGAINST),--against="$(abspath $(AGAINST))") $(if $(ONLY),-k "$(ONLY)")
	@CC=$(CC) $(BIN)/python benchmarks/record.py \
		$(if $(AGAINST)$(ONLY),_build/bench/part.json,benchmarks/latest.json) _build/bench/raw.json

print: _build/book.done ## make PDFs of the book and the note, and an EPUB (needs Chromium or Google Chrome; ONLY=note)
	@echo "Printing (the book takes some minutes)"
	@$(BIN)/python chapters/extensions/printing/__init__.py $(ONLY)
	@ls _build/print/*.pdf $(if $(ONLY),,_build/print/*.epub)

offline: _build/book.done ## pack the book into one zip whose pages open from a disk
	@cd _build/html && ../../$(BIN)/python -m zipfile -c ../fair-bandits.zip .
	@echo "Unpack it, and open index.html: _build/fair-bandits.zip"

# No chapter is run for it. A notebook that is there stays, also when all is cleaned.
lab: .venv/lock.done ## open the chapters as notebooks in JupyterLab
	@echo "Making the notebooks"
	@$(BIN)/jupyter-book build -q --builder custom --custom-builder notebooks --path-output _build/lab . >/dev/null
	@$(BIN)/jupyter lab notebooks/index.ipynb

# One version of each package for all Pythons, with its hashes; `make lock UPGRADE=--upgrade` takes newer ones.
lock: ## compile requirements.txt from pyproject.toml (needs uv)
	@uv pip compile --quiet --universal --python-version 3.$(LOW) --fork-strategy fewest --generate-hashes $(UPGRADE) \
		--all-extras --custom-compile-command "make lock" pyproject.toml --output-file requirements.txt
	@echo "requirements.txt is compiled from pyproject.toml."

clean: ## remove everything that was built or installed
	@rm -rf .venv _build conf.py *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find benchmarks chapters fairlib tests -name __pycache__ -prune -exec rm -rf {} +
