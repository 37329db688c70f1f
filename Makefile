# Everything here works from a bare checkout with Python 3.11 or newer; CONTRIBUTING.md has the
# same commands without make.

PYTHON ?= python3
override PYTHON := $(or $(PYTHON),python3)
PORT ?= 8000
IN_VENV := .venv/bin/python

# constraints.txt holds mkdocs at 1; the theme need not warn of 2.
export NO_MKDOCS_2_WARNING := 1

# Who only reads does not wait for torch: what the tests need is installed when they are asked for.
EXTRAS := $(if $(filter test update bench measure lighthouse lint format types checks,$(MAKECMDGOALS)),test)

.PHONY: help serve test site update figures bench measure lighthouse clean
.PHONY: lint format types checks setup assets
.DEFAULT_GOAL := help

help:  ## list these commands
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

serve: assets .venv/figures  ## read the book at http://127.0.0.1:8000, every edit shown (PORT= for another)
	@$(IN_VENV) -m scripts.site.serve --port='$(PORT)'

test: assets  ## run every check: lint, types, package, pages, figures, site, browser
	@$(IN_VENV) -m scripts.setup.browser
	@$(MAKE) --no-print-directory --keep-going --jobs 2 checks lint format types

site: setup  ## build the site into site/, strict
	@$(IN_VENV) -m scripts.site.build

update: setup figures  ## rewrite outputs, tables, bound numbers and figures in place
	$(IN_VENV) -m scripts.book.update

figures: setup  ## draw the figures into docs/figures/
	$(IN_VENV) -m scripts.figures
	@$(IN_VENV) -m scripts.figures.card

bench: setup  ## measure how fast, for ten minutes, and write it into docs/how-to/how-fast.md
	$(IN_VENV) -m scripts.bench

measure: export OMP_NUM_THREADS := 1
measure: setup  ## train and evaluate every scheme, in about an hour; goes on where it was stopped
	$(IN_VENV) -m scripts.measure

lighthouse: setup  ## weigh the site and score it, for a few minutes, and write it into docs/trust/how-built.md
	$(IN_VENV) -m scripts.lighthouse

clean:  ## remove what the commands above have made
	rm -rf .venv node_modules site docs/assets/built build *.egg-info .coverage .*_cache .hypothesis

# The parts of `make test`: one that fails does not keep the others from being heard. The tests begin
# at once; beside them, the others take turns.
lint: setup
	$(IN_VENV) -m ruff check

format: setup
	$(IN_VENV) -m ruff format --check

types: setup
	$(IN_VENV) -m mypy

# A process a core, each with one thread: more would only wait for one another. What Python compiles
# is kept, wherever else that is not wanted: a hundred short commands are tested.
checks: export OMP_NUM_THREADS := 1
checks: export PYTHONDONTWRITEBYTECODE :=
checks: setup
	$(IN_VENV) -m pytest --cov --numprocesses auto --dist worksteal

# Older Pythons cannot read the script that would say so.
setup:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 6))' 2> /dev/null || { \
	  echo 'Python 3.11 or newer is needed, and `$(PYTHON)` is not one.'; \
	  echo "Install one (from python.org or your system's packages) and run the same command again."; \
	  echo 'If it stands elsewhere, name it: make PYTHON=its/path/python3'; exit 1; } >&2
	@$(PYTHON) scripts/setup/environment.py $(EXTRAS)

assets: setup
	@$(IN_VENV) -m scripts.site.assets

# The figures are committed; they are drawn again when a script has changed since the last time.
.venv/figures: $(wildcard scripts/figures/*.py posenc/*.py) | setup
	@test ! -e $@ || $(IN_VENV) -m scripts.figures
	@touch $@
