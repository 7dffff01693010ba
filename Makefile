# The two commands are `make book` and `make test`. Each sets up what it needs, and neither does anything twice.

PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

# Folders are listed with their files, so that a deleted file counts as a change.
files = $(shell find $(1) -not -path '*/.*' -not -path '*__pycache__*')
PACKAGE := requirements.txt $(call files,fairlib)
BOOK := _config.yml _toc.yml $(call files,chapters)
NOTEBOOKS = $(shell grep -l '^kernelspec:' chapters/*.md)
JCACHE := JUPYTERCACHE=_build/.jupyter_cache $(BIN)/jcache
TESTS := pyproject.toml conftest.py $(call files,tests)

.PHONY: help book test references figures lab lock clean

help:
	@echo "make book        build the book, and say which file to open"
	@echo "make test        run every chapter and every test, the linter and the type checker"
	@echo "make references  store the checked outputs of the chapters anew, and show what changed"
	@echo "make figures     build the book with the papers' own numbers of runs (slow)"
	@echo "make lab         open the chapters as notebooks in JupyterLab"
	@echo "make lock        compile requirements.txt from pyproject.toml (needs uv)"
	@echo "make clean       remove everything that was built or installed"

book: _build/book.done
	@echo "The book is built and up to date. Open this file in a browser:"
	@echo "    $(CURDIR)/_build/html/index.html"

test: _build/test.done
	@echo "All tests passed on these very sources. (To run them again: $(BIN)/pytest)"

# The environment is the lock and nothing else, so a changed lock starts a new one.
.venv/lock.done: requirements.txt
	@test -n "$(PYTHON)" || { echo "No Python 3.11, 3.12 or 3.13 was found. Install one, or name it: make PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
		{ echo "The book needs Python 3.11, 3.12 or 3.13, but '$(PYTHON)' is $$($(PYTHON) --version 2>&1)."; exit 1; }
	@echo "Installing the pinned packages into .venv ($$($(PYTHON) --version))"
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/pip install --quiet --require-hashes -r requirements.txt
	@$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

# Neither Sphinx nor the cache of executed notebooks sees an edit of the package, so one drops what they kept.
# (__pycache__ is made now, because its making would change the folder and look like an edit later.)
_build/package.done: .venv/lock.done $(PACKAGE)
	@rm -rf _build/html _build/.doctrees _build/.jupyter_cache
	@mkdir -p _build fairlib/__pycache__ && touch $@

# Sphinx would run the chapters one after the other. Here they run side by side, and Sphinx finds them in its cache;
# one that fails is not put there, so Sphinx runs it again and says what is wrong.
# The page of results shows the outcomes of the last test run. After a warning the pages that were read are
# dropped: Sphinx warns about a page only when it reads it, so the next build would pass.
_build/book.done: _build/package.done $(BOOK) $(wildcard _build/outcomes.json)
	@echo "Running the chapters that have changed"
	@{ yes | $(JCACHE) notebook clear; yes | $(JCACHE) notebook add -r myst_nb_md $(NOTEBOOKS); \
		$(JCACHE) project execute -e local-parallel -t 600; } >_build/chapters.log 2>&1 || true
	@echo "Building the book (warnings are errors)"
	@$(BIN)/jupyter-book build -W -n --keep-going . || { rm -rf _build/.doctrees; exit 1; }
	@touch $@

# The browser test opens the built pages; the last line puts the outcomes on the page of results.
_build/test.done: $(PACKAGE) $(BOOK) $(TESTS) | _build/book.done
	@echo "Running every chapter, every test, the linter and the type checker"
	@$(BIN)/ruff check --quiet && $(BIN)/ruff format --quiet --check && $(BIN)/mypy --no-error-summary
	@$(BIN)/pytest
	@touch $@
	@$(MAKE) --no-print-directory book

references: .venv/lock.done
	@$(BIN)/pytest chapters --refresh-references

figures:
	@rm -rf _build/html _build/.doctrees _build/.jupyter_cache _build/book.done
	@FULL=1 $(MAKE) --no-print-directory book

lab: .venv/lock.done
	@$(BIN)/jupytext-config set-default-viewer markdown
	@$(BIN)/jupyter lab chapters/index.md

# One version of each package for all Pythons, with its hashes; `make lock UPGRADE=--upgrade` takes newer ones.
lock:
	@uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes $(UPGRADE) \
		--all-extras --custom-compile-command "make lock" pyproject.toml --output-file requirements.txt
	@echo "requirements.txt is compiled from pyproject.toml."

clean:
	@rm -rf .venv _build *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find chapters fairlib tests -name __pycache__ -prune -exec rm -rf {} +
