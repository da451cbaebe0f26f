# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# What llama.cpp brings beside the library is not used here; leaving it out saves half of the build.
LLAMA_FLAGS := -DLLAVA_BUILD=OFF -DMTMD_BUILD=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_CURL=OFF
DEMO := .demo
MODEL := smollm2-135m-instruct

.PHONY: demo test lint bench install clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	CMAKE_ARGS="$(LLAMA_FLAGS)" $(BIN)/python -m pip install --quiet -e '.[model,dev]'
	touch $@

# The model lands in the user's data folder; it is checked and kept for the next time.
$(VENV)/.model: $(VENV)/.installed
	$(BIN)/hybrid model install $(MODEL)
	touch $@

install: $(VENV)/.installed $(VENV)/.model

demo: install
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@$(BIN)/python examples/demo.py --db $(DEMO)/memories.duckdb

lint: $(VENV)/.installed
	$(BIN)/ruff check hybrid tests benchmarks examples
	$(BIN)/ruff format --check hybrid tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports

test: install lint
	$(BIN)/hybrid rules check
	$(BIN)/python -m pytest

bench: install
	$(BIN)/python benchmarks/pipeline.py

clean:
	rm -rf $(VENV) $(DEMO) build dist .pytest_cache .mypy_cache .ruff_cache
