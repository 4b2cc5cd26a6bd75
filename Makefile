# Everything that is done twice. PYTHON is an interpreter in whose environment `pip install -e '.[dev,tvm]'` ran.
PYTHON ?= python
GOOD = examples/*.rlx examples/prototype

.PHONY: check test lint coverage-of-rules bench rules tables

check:  ## the examples
	$(PYTHON) -m rlx check $(GOOD)

test:  ## all tests
	$(PYTHON) -m pytest

lint:  ## style, types, the dependency rule
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) -m importlinter.cli lint-imports

