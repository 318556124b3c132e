# Commands of the project. Each creates .venv as needed; nothing but Python ≥ 3.10 and make has to be there.
#
#   make demo     compute the eight metrics on real data and draw demo/report.png
#   make test     run the whole suite
#   make lint     ruff, mypy, and the check that the generated copies are in sync
#   make sync     copy the kernel into the metric folders

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export HF_HUB_OFFLINE := 1
export HF_EVALUATE_OFFLINE := 1

.PHONY: demo test lint sync clean

demo: $(VENV)/installed
	$(BIN)/python -m demo

test: $(VENV)/installed
	$(BIN)/python -m pytest tests

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python spaces/sync.py --check

sync: $(VENV)/installed
	$(BIN)/python spaces/sync.py

$(VENV)/installed: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[demo,test,lint]'
	$(BIN)/python -m pip install --quiet --no-deps --constraint constraints.txt XCurve oodeel
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
