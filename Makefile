# Everything here works in a fresh checkout with Python 3.11 or newer; CONTRIBUTING.md lists the same
# commands without make.

PYTHON ?= python3
override PYTHON := $(or $(PYTHON),python3)
PORT ?= 8000
IN_VENV := .venv/bin/python

# Silences the theme's warning about mkdocs 2; constraints.txt pins mkdocs 1.
export NO_MKDOCS_2_WARNING := 1

# The tests that must run every line of the package.
PACKAGE := tests/package tests/nn tests/diagnose
PARALLEL := --numprocesses auto --dist worksteal

# The tests' dependencies, torch among them, are installed only for the targets that need them.
TESTING := test quick update bench measure weights vectors matrix lighthouse lint format types checks quick_checks
EXTRAS := $(if $(filter $(TESTING),$(MAKECMDGOALS)),test)
EXTRAS += $(if $(filter dist,$(MAKECMDGOALS)),dist)
EXTRAS += $(if $(filter test-all rest mutations pdf,$(MAKECMDGOALS)),test test-all)

.PHONY: help serve test test-all quick site update figures bench measure weights vectors matrix lighthouse prove pdf dist mutations clean
.PHONY: rest lint format types checks quick_checks python setup assets
.DEFAULT_GOAL := help

help:  ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

serve: setup  ## serve the book at http://127.0.0.1:8000 with live reload (PORT=… for another port)
	@$(IN_VENV) -m scripts.site.serve --port='$(PORT)'

test: assets  ## check this checkout: package, pages, figures, site, browser, lint, types (ten minutes)
	@$(IN_VENV) -m scripts.setup.browser
	@$(MAKE) --no-print-directory --keep-going --jobs 2 checks lint format types

test-all: test rest  ## run every other check too: all looks of all pages, other browsers, other libraries

quick:  ## run the checks that need no browser and take a minute or two
	@$(MAKE) --no-print-directory --keep-going --jobs 2 quick_checks lint format types

site: setup  ## build the site into site/, in strict mode
	@$(IN_VENV) -m scripts.site.build

update: setup figures  ## rewrite outputs, tables, bound numbers and figures in place
	$(IN_VENV) -m scripts.book.update

figures: setup  ## draw the figures into docs/figures/
	$(IN_VENV) -m scripts.figures
	@$(IN_VENV) -m scripts.figures.card

bench: setup  ## run the benchmarks (ten minutes) and update docs/how-to/how-fast.md
	$(IN_VENV) -m scripts.bench

measure: export OMP_NUM_THREADS := 1
measure: setup  ## train and evaluate every scheme (some hours); resumes if interrupted
	$(IN_VENV) -m scripts.measure

weights: export OMP_NUM_THREADS := 1
weights: setup  ## train the models of *Watch it break* again (half an hour); resumes if interrupted
	$(IN_VENV) -m scripts.measure.weights

vectors: setup  ## write the test vectors into docs/vectors/ (half a minute)
	$(IN_VENV) -m scripts.vectors

matrix: setup  ## ask other libraries the test vectors, one at a time (an hour or more); resumes
	@$(IN_VENV) -m scripts.matrix

lighthouse: setup  ## score the site (a few minutes) and update docs/trust/how-built.md
	$(IN_VENV) -m scripts.site.lighthouse

prove: python  ## check the proofs with Coq or Rocq (a minute or two); needs no packages of Python
	@$(PYTHON) -m scripts.proofs $(if $(RECORD),--record)

pdf: assets  ## make the book as one PDF and as an EPUB, in build/paper/ (two minutes)
	@$(IN_VENV) -m scripts.setup.browser
	@$(IN_VENV) -m scripts.site.paper

dist: setup  ## build the release into dist/: sdist, wheel, archive of the vectors, npm package; all checked
	@$(IN_VENV) -m scripts.dist

mutations: setup  ## change the package, a thing at a time, and count what no test notices (half an hour)
	$(IN_VENV) -m mutmut run

clean:  ## remove everything that these commands have created
	rm -rf .venv node_modules site docs/assets/built build mutants dist *.egg-info .coverage .*_cache .hypothesis

# The parts of `make test` and `make quick`. If one fails, the others still run. Of the two jobs, one
# runs the tests and the other runs the rest in turn.
lint: setup
	$(IN_VENV) -m ruff check

format: setup
	$(IN_VENV) -m ruff format --check

types: setup
	$(IN_VENV) -m mypy

# One process per core, each with one thread, since more threads would compete. Bytecode is written
# even if the environment forbids it, because the tests start a hundred short Python commands.
checks quick_checks rest: export OMP_NUM_THREADS := 1
checks quick_checks rest: export PYTHONDONTWRITEBYTECODE :=
checks: setup
	$(IN_VENV) -m pytest $(PARALLEL) -m 'not slow'

# What `make test` leaves out. The types are checked again, since more libraries are installed now.
# Coverage is measured in the package's own tests; tracing would slow the others for nothing.
rest: assets
	@$(IN_VENV) -m scripts.setup.browser
	@$(IN_VENV) -m scripts.setup.vision
	@status=0; \
	  $(IN_VENV) -m mypy || status=$$?; \
	  $(IN_VENV) -m pytest $(PARALLEL) -m slow || status=$$?; \
	  $(IN_VENV) -m pytest $(PARALLEL) $(PACKAGE) -m 'not slow' --cov || status=$$?; \
	  PYTHONPATH=.venv/vision $(IN_VENV) -m pytest tests/oracles/test_timm.py || status=$$?; \
	  $(IN_VENV) -m scripts.setup.oldest || status=$$?; \
	  $(IN_VENV) -m tests.mutations || status=$$?; \
	  $(IN_VENV) -m tests.plant --sample 60 || status=$$?; \
	  exit $$status

quick_checks: setup
	$(IN_VENV) -m pytest $(PARALLEL) -m 'not slow' \
	  posenc $(PACKAGE) $$($(IN_VENV) -m scripts.book.changed)

# Checked here, because older Pythons cannot parse the script that reports it.
python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 6))' 2> /dev/null || { \
	  echo 'Python 3.11 or newer is needed, and `$(PYTHON)` is not one.'; \
	  echo "Install one (from python.org or your system's packages) and run the same command again."; \
	  echo 'If it is not on the PATH, name it: make PYTHON=its/path/python3'; exit 1; } >&2

setup: python
	@$(PYTHON) scripts/setup/environment.py $(EXTRAS)

assets: setup
	@$(IN_VENV) -m scripts.site.assets
