# Commands of the project. Each creates .venv as needed; nothing but Python ≥ 3.10 and make has to be there.
#
#   make demo     compute the eight metrics on real data and draw demo/report.png
#   make demo-anomaly            evaluate two detectors' anomaly maps, and draw demo/photographs/report/index.html
#   make demo-detection          evaluate a detector from its files, and draw demo/pasted-digits/report/index.html
#   make examples                the data that the pages open with, in metrics/*/examples
#   make test     run the whole suite
#   make test-without-torch      all tests that need no torch, in an environment that has none
#   make test-versions           the same on each Python of PYTHONS, e.g. PYTHONS="python3.10 python3.13"
#   make test-ultralytics        the detection tests with a real model, in an environment of 6 GB of its own
#   make bench    measure against the peers, and write the table into the README
#   make bench-scale             time and memory of 10⁹ scores, which are added in batches, and of Dask (half an hour)
#   make bench-gpu               the same for CUDA tensors, on a machine with a CUDA device and a CUDA build of torch
#   make fuzz     give readers, columns, states, options and pages ten minutes of wrong input (MINUTES=60: an hour)
#   make lint     ruff, mypy, and the check that the generated files are in sync
#   make sync     write the generated files of the metric folders: _kernel.py, _page.py, app.py, requirements.txt
#   make spaces   serve the pages of all metrics as one, on a free local port
#   make screenshots             the pictures of pages in the README

PYTHON ?= python3
VENV ?= .venv
MINUTES ?= 10
PYTHONS ?= python3.10 python3.11 python3.12 python3.13
BIN := $(VENV)/bin
export HF_HUB_OFFLINE := 1
export HF_EVALUATE_OFFLINE := 1

.PHONY: bench bench-gpu bench-scale demo demo-anomaly demo-detection examples fuzz test test-ultralytics test-without-torch \
	test-versions lint sync spaces screenshots chromium clean

demo: $(VENV)/installed-demo
	$(BIN)/python -m demo

demo-anomaly: $(VENV)/installed-demo-anomaly
	$(BIN)/python -m demo.anomaly_folder
	cd demo/photographs && $(abspath $(BIN))/openworld-metrics anomaly --data data --maps maps/patches \
		--compare maps/contrast --save results.txt --save results.json --per-image images.csv --report report
	@echo "report: demo/photographs/report/index.html"

examples: $(VENV)/installed-demo-anomaly
	$(BIN)/python -m demo.page_examples

demo-detection: $(VENV)/installed-demo-detection
	$(BIN)/python -m demo.detection_files
	cd demo/pasted-digits && $(abspath $(BIN))/openworld-metrics detect --predictions predictions \
		--references data.yaml --known-classes 0 1 2 3 4 5 --unknown-id 999 --per-class \
		--save openset_results.txt --save openset_results.json --report report
	@echo "report: demo/pasted-digits/report/index.html"

test: $(VENV)/installed chromium
	$(BIN)/python -m pytest -rs --numprocesses 2 --dist loadfile --durations 10 tests

test-without-torch: $(VENV)-without-torch/installed
	! $(VENV)-without-torch/bin/python -c "import torch" 2>/dev/null
	$(VENV)-without-torch/bin/python -m pytest --numprocesses 2 --dist loadfile tests

# ultralytics is under the AGPL-3.0 licence; its torch is not the one of constraints.txt
test-ultralytics: $(VENV)-ultralytics/installed
	$(VENV)-ultralytics/bin/python -m pytest -rs -s tests/detection/test_ultralytics.py tests/detection/test_validator.py

test-versions:
	set -e; for python in $(PYTHONS); do \
		version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		$(MAKE) test-without-torch PYTHON=$$python VENV=$(VENV)-$$version; \
	done

bench: $(VENV)/installed-bench
	$(BIN)/python -m tests.benchmarks
	$(BIN)/python -m tests.benchmarks.small
	$(BIN)/python -m tests.benchmarks.growth
	$(BIN)/python -m tests.benchmarks.files
	$(BIN)/python -m tests.benchmarks.folders
	$(BIN)/python -m tests.benchmarks.intervals

bench-scale: $(VENV)/installed-bench
	$(BIN)/python -m tests.benchmarks.scale

bench-gpu: $(VENV)/installed-bench
	$(BIN)/python -m tests.benchmarks.gpu

fuzz: $(VENV)/installed
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python spaces/sync.py --check

sync: $(VENV)/installed
	$(BIN)/python spaces/sync.py

spaces: $(VENV)/installed
	$(BIN)/python spaces/gallery.py

screenshots: $(VENV)/installed chromium
	$(BIN)/python spaces/screenshots/take.py

# the browser of the apps' tests, where it may be installed
chromium:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	     && apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium >/dev/null; } \
	|| echo "There is no Chromium, and it cannot be installed here: tests in a browser are skipped."

$(VENV)/installed-demo: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[demo]'
	touch $@

$(VENV)/installed-demo-detection: $(VENV)/installed-demo
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[demo,detection]'
	touch $@

$(VENV)/installed-demo-anomaly: $(VENV)/installed-demo
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[demo,anomaly]'
	touch $@

$(VENV)/installed: $(VENV)/installed-demo
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[demo,test,lint]'
	$(BIN)/python -m pip install --quiet --no-deps --constraint constraints.txt XCurve oodeel
	touch $@

$(VENV)-without-torch/installed: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-without-torch
	$(VENV)-without-torch/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[test-without-torch]'
	touch $@

$(VENV)-ultralytics/installed: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)-ultralytics
	$(VENV)-ultralytics/bin/python -m pip install --quiet --editable '.[ultralytics]' pytest hypothesis
	touch $@

$(VENV)/installed-bench: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-* build dist *.egg-info
