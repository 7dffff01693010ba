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

.PHONY: help book test test-pages test-full arena bench compiler figures print offline lab sphinx lock clean

help:
	@echo "make book        build the book, and say which file to open"
	@echo "make test        run every chapter and the package's tests, load each page, and check code and types"
	@echo "make test-pages  try the pages: on phones, by hand, on paper, in JupyterLab, for readers who can't see them"
	@echo "make test-full   try all that is tried by samples: bounds and properties (hours)"
	@echo "make arena       play all games of the arena anew, and store what came of it (ten minutes)"
	@echo "make bench       measure what a round costs, against C and other projects (a quarter of an hour; needs a C compiler)"
	@echo "make figures     play the papers' figures as often as they did, and compare them with the book's (slow)"
	@echo "make print       make a PDF and an EPUB of the book, and a PDF of the note (needs Chromium or Google Chrome)"
	@echo "make offline     pack the book into one zip whose pages open from a disk"
	@echo "make lab         open the chapters as notebooks in JupyterLab"
	@echo "make sphinx      build the book once more, without Jupyter Book, into _build/sphinx/html"
	@echo "make lock        compile requirements.txt from pyproject.toml (needs uv)"
	@echo "make clean       remove everything that was built or installed"

book: _build/book.done
	@echo "The book is built and up to date. Open this file in a browser:"
	@echo "    $(CURDIR)/_build/html/index.html"

test: _build/test.done
	@echo "These tests passed on these very sources. (The rest: make test-pages. To run all again: $(BIN)/pytest)"

test-pages: _build/pages.done
	@echo "The tests of the pages passed on these very sources."

# The environment is the lock and nothing else, so a changed lock starts a new one.
.venv/lock.done: requirements.txt
	@test -n "$(PYTHON)" || { echo "No Python was found that the book can use: 3.$(LOW) or later, below 3.$(HIGH)." \
		"Install one, or name it: make PYTHON=/path/to/python3.$(LOW)"; exit 1; }
	@$(PYTHON) -c '$(FITS)' || { echo "The book needs Python 3.$(LOW) or later, below 3.$(HIGH)," \
		"but '$(PYTHON)' is $$($(PYTHON) --version 2>&1)."; exit 1; }
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

# Samples of it are among the tests. What is stored of the trials, in chapters/trials.csv, is what the book shows: look at each
# line that has changed. `TRIALS=full .venv/bin/pytest -n0 tests/test_trials.py -k ucb1_bound` plays one bound anew.
test-full: .venv/lock.done
	@PROPERTIES=full $(BIN)/pytest tests
	@TRIALS=full $(BIN)/pytest -n0 tests/test_trials.py -k holds
	@PYTHONPATH=tests $(BIN)/python -m bound_trials

# What is stored, in benchmarks/arena.json, is what the book shows; on the same versions each number is the same again.
arena: .venv/lock.done
	@PYTHONPATH=chapters/extensions $(BIN)/python tests/arena_record.py

# Each side of a ratio takes turns with the other, in processor time. AUTHORS=folder measures the authors' public code too,
# AGAINST=folder another checkout; ONLY=words takes the benchmarks of that name alone. Of these two no record is made.
bench: compiler .venv/lock.done _build/bench/peers.done
	@echo "Measuring; best on a machine that has nothing else to do"
	@CC=$(CC) PYTHONPATH=_build/bench/tools $(BIN)/pytest -c benchmarks/pytest.ini benchmarks -q --benchmark-disable-gc \
		--benchmark-timer=time.process_time --benchmark-quiet --benchmark-json=_build/bench/raw.json \
		--peers=_build/bench/peers/bin/python $(if $(AUTHORS),--authors="$(abspath $(AUTHORS))") \
		$(if $(AGAINST),--against="$(abspath $(AGAINST))") $(if $(ONLY),-k "$(ONLY)")
	@CC=$(CC) $(BIN)/python benchmarks/record.py \
		$(if $(AGAINST)$(ONLY),_build/bench/part.json,benchmarks/latest.json) _build/bench/raw.json

compiler:
	@command -v $(CC) >/dev/null || { echo "The benchmarks compile loops in C, and there is no '$(CC)':" \
		"install a C compiler, such as gcc, or name one: make bench CC=clang"; exit 1; }

# Nothing of this goes into .venv, which is the lock: pytest-benchmark has a folder, the other projects an environment.
_build/bench/peers.done: .venv/lock.done benchmarks/requirements.txt benchmarks/peers.txt
	@echo "Installing what is measured with, and the other projects"
	@rm -rf _build/bench && mkdir -p _build/bench
	@$(BIN)/pip install --quiet --require-hashes --no-deps --target _build/bench/tools -r benchmarks/requirements.txt
	@$(BIN)/python -m venv _build/bench/peers
	@grep -v '^#' benchmarks/peers.txt | while read -r peer; do _build/bench/peers/bin/pip install --quiet "$$peer" \
		|| echo "$$peer does not install here, and is left out"; done
	@touch $@

# The book is not built for it, and stays as it is: the chapters of the figures are run with other luck (paper_figures.py).
figures: .venv/lock.done
	@echo "Playing the papers' figures anew, into _build/figures (up to 20 minutes)"
	@$(BIN)/python chapters/extensions/paper_figures.py

print: _build/book.done
	@echo "Printing the book (some minutes)"
	@PYTHONPATH=chapters/extensions $(BIN)/python -m printing
	@ls _build/print/*.pdf _build/print/*.epub

offline: _build/book.done
	@cd _build/html && ../../$(BIN)/python -m zipfile -c ../fair-bandits.zip .
	@echo "Unpack it, and open index.html: _build/fair-bandits.zip"

# No chapter is run for it. The pages are read apart from the book's, which want what was executed. A notebook in which the
# reader has written stays (chapters/extensions/downloads.py), also when all is cleaned.
lab: .venv/lock.done
	@echo "Making the notebooks"
	@$(BIN)/jupyter-book build -q --builder custom --custom-builder notebooks --path-output _build/lab . >/dev/null
	@$(BIN)/jupyter lab notebooks/index.ipynb

# Jupyter Book 1 is frozen. Should it ever stop working, this is the way out: it writes our settings down as Sphinx's, and
# Sphinx alone builds the same pages from them, without a warning. It takes the outputs that `make book` left.
sphinx: _build/book.done
	@echo "Building the book with Sphinx alone (warnings are errors)"
	@$(BIN)/jupyter-book config sphinx . >/dev/null
	@PYTHONPATH=chapters/extensions $(BIN)/sphinx-build -q -a -W -n --keep-going -d _build/sphinx/.doctrees \
		. _build/sphinx/html; built=$$?; rm conf.py; exit $$built

# One version of each package for all Pythons, with its hashes; `make lock UPGRADE=--upgrade` takes newer ones.
lock:
	@uv pip compile --quiet --universal --python-version 3.$(LOW) --fork-strategy fewest --generate-hashes $(UPGRADE) \
		--all-extras --custom-compile-command "make lock" pyproject.toml --output-file requirements.txt
	@echo "requirements.txt is compiled from pyproject.toml."

clean:
	@rm -rf .venv _build conf.py *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find benchmarks chapters fairlib tests -name __pycache__ -prune -exec rm -rf {} +
