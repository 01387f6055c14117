# `make pin_images` writes the digest of a newer image here: docs/supply-chain.md.
ARG BASE=python:3.11-slim@sha256:1042b61448fef4ba92d16a8c7eb4996d027568ce64792a7877fd88511e0af7c6

FROM ${BASE} AS build
WORKDIR /src
COPY bootstrap.txt constraints.txt image.txt ./
RUN python -m venv /build \
 && /build/bin/pip install --no-cache-dir -r bootstrap.txt \
 && python -m venv --without-pip /venv
RUN /build/bin/pip --python /venv/bin/python install --no-cache-dir --no-compile --no-deps \
    --require-hashes --only-binary :all: -c constraints.txt -r image.txt
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY assistant assistant
COPY memory_store memory_store
RUN /build/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation -w /wheel . \
 && /build/bin/pip --python /venv/bin/python install --no-cache-dir --no-compile --no-deps /wheel/* \
 # Commands and tests of others, and what ONNX Runtime brings for making models of its own kinds.
 && find /venv/bin -type f ! -name assistant -delete \
 && find /venv/lib -depth -type d \( -name test -o -name tests -o -path '*/onnxruntime/transformers' \
    -o -path '*/onnxruntime/quantization' -o -path '*/onnxruntime/tools' \) \
    ! -path '*/licenses/*' -exec rm -rf {} + \
 # Whole seconds: a copy may round, and bytecode of another second than its source is not used.
 && find /venv -type f -exec touch -d 2000-01-01T00:00Z {} +
# Compiles what a start imports, and no more: the image is not written to when it runs.
RUN /venv/bin/assistant check --data-dir /tmp/none \
 && /venv/bin/python -c "import assistant.app; from assistant.models import litellm_import as l; l.load_litellm()"

FROM ${BASE}
# Nothing is installed where this runs.
RUN rm -rf "$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"/* /usr/local/bin/pip* \
 && useradd --uid 10001 --no-create-home --home-dir /tmp app && install -d -o app -g app /data
COPY --from=build /venv /venv
USER 10001:10001
# What `make image` calls it.
ARG VERSION=unreleased
LABEL org.opencontainers.image.title="Aide-mémoire" org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.version=$VERSION
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 ASSISTANT_HOST=0.0.0.0 ASSISTANT_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ.get(\"ASSISTANT_PORT\", 8080)}/health')"]
# One process owns the memory; it needs a moment to finish writing when it is stopped.
STOPSIGNAL SIGTERM
CMD ["assistant", "serve"]
