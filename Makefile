# make demo    the classic comparison, then southward attacks in a real position, from machine code that just ran
# make test    the quick set: style, types, tests
# make check   everything at full length
# make long    searches and fuzzing that take hours; nothing depends on it
# make golden  writes down every kernel's digest, and the names in setwise/names.py, anew (tests/golden)
# make clean   removes all that make made
#
# Each sets up what it needs in .venv (.ci/setup); PYTHON=... chooses the Python.

BIN := .venv/bin
KIWIPETE := r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1

.PHONY: help demo test check long golden clean setup tools style types

help:
	@sed -n 's/^# //p' Makefile

demo: setup
	$(BIN)/setwise compare dumb7.attacks.sout kogge-stone.attacks.sout --abi wiki
	$(BIN)/setwise run kogge-stone.attacks.sout --fen "$(KIWIPETE)"

test: style types tools
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow"

check: style types tools
	$(BIN)/python -m pytest -q -n auto --dist worksteal
	$(BIN)/setwise report --check

long: tools
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m long

golden: setup
	$(BIN)/python -m tests.golden.names
	$(BIN)/python -m tests.golden.digests

style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy --strict

setup:
	@.ci/setup

tools: setup
	@.ci/setup tools

clean:
	rm -rf .venv build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
