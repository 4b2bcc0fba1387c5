# make demo    the classic comparison, then southward attacks in a real position, from machine code that just ran
# make test    the quick set: style, types, size, tests
# make check   make test, then what is slow, at full length, and the reports
# make long    searches and fuzzing that take hours; nothing depends on it
# make engines  chess engines before and after setwise computes their threats: ENGINES='PATH...' COMMANDS=FILE
# make docs    the site, in build/site, to be read without a network; its atlas is of all routines, or ATLAS='NAME...'
# make golden  rewrites the golden files (tests/golden) and two pages of docs/
# make clean   removes all that make made
#
# Each sets up what it needs in .venv (.ci/setup); PYTHON=... chooses the Python.

BIN := .venv/bin
KIWIPETE := r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1

.PHONY: help demo test check long engines docs golden clean core setup tools style types size

help:
	@sed -n 's/^# //p' Makefile

demo: core
	$(BIN)/setwise compare dumb7.attacks.sout kogge-stone.attacks.sout --abi wiki
	$(BIN)/setwise run kogge-stone.attacks.sout --fen "$(KIWIPETE)"

test: style types size tools
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow"

check: test
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "slow and not long"
	$(BIN)/setwise report --check

long: tools
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m long

engines: setup
	@$(BIN)/python -m tests.engines $(ENGINES) $(if $(COMMANDS),--commands $(COMMANDS))

# The site has the repository's own layout, so links between pages are the same in both.
docs: setup
	rm -rf build/pages
	mkdir -p build/pages/tests
	ln -s ../../README.md ../../CHANGELOG.md ../../CONTRIBUTING.md ../../LICENSE ../../docs ../../reports build/pages
	ln -s ../../../tests/examples build/pages/tests
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --config-file docs/mkdocs.yml
	$(BIN)/python -m setwise.analysis.atlas build/atlas $(ATLAS)
	cp -R build/atlas build/site/atlas

golden: setup
	$(BIN)/python -m tests.golden.commands
	$(BIN)/python -m tests.golden.formats
	$(BIN)/python -m tests.golden.printed
	$(BIN)/python -m tests.golden.games
	$(BIN)/python -m tests.golden.exports
	$(BIN)/python -m tests.golden.digests

style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy --strict

size: setup
	@$(BIN)/python -m tests.size

core:
	@.ci/setup

setup: core
	@.ci/setup tests

tools: setup
	@.ci/setup tools

clean:
	rm -rf .venv build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
