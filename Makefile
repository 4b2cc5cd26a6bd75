# Everything that is done twice. PYTHON is an interpreter in whose environment `pip install -e '.[dev,tvm,cluster]'` ran.
PYTHON ?= python
GOOD = examples/*.rlx examples/prototype

NPM_CI = npm ci --ignore-scripts --no-audit --no-fund

.PHONY: vsix playground pictures findings check test lint coverage-of-rules bench rules site operators tables hostile

check:  ## the examples
	$(PYTHON) -m rlx check $(GOOD)

test:  ## all tests
	$(PYTHON) -m pytest -n auto

lint: operators  ## style, types, the dependency rule
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'

coverage-of-rules:  ## which rules the tests apply, which premises they make fail; is it enough
	$(PYTHON) -m pytest -n auto -q -p rlx.spec.plugin
	$(PYTHON) -m rlx.spec --coverage

bench:  ## speed, beside TVM's (benchmarks/README.md)
	$(PYTHON) -m benchmarks all

rules:  ## the rules with their judgements and where they are implemented
	$(PYTHON) -m rlx.spec

site:  ## the documentation, under build/site
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict

operators:  ## the signatures of operators for editors and type checkers; an installation writes them, too
	$(PYTHON) -m rlx.transform.builder.stub

tables:  ## the parser's tables from grammar/read/relax.lark
	$(PYTHON) -m rlx.grammar.read.tables

hostile:  ## 20,000 damaged files through every command (tests/hostile/README.md); half an hour
	nice $(PYTHON) -m tests.hostile.every_command 20000

findings:  ## see every finding in TVM again, and write their page
	$(PYTHON) -m rlx.generate.campaign.replay findings/*/*.rlx
	$(PYTHON) -m rlx.generate.campaign.index findings

vsix:  ## the extension for VS Code, under build/; needs Node and npm
	cd editors/vscode && $(NPM_CI) && npm run build
	mkdir -p build && $(PYTHON) editors/vscode/pack.py build/relax-0.1.0.vsix

playground:  ## rlx in a browser, under build/playground; `make site` then links to it; needs Node and npm
	cd editors/playground && $(NPM_CI)
	$(PYTHON) editors/playground/build.py build/playground

pictures:  ## those of the README
	$(PYTHON) -m docs.build.readme_pictures
