FROM python:3.11-slim AS build
WORKDIR /src
RUN python -m venv /venv
COPY pyproject.toml constraints.txt README.md ./
# Dependencies first: they change less often than the code.
RUN mkdir assistant memory_store harness \
 && touch assistant/__init__.py memory_store/__init__.py harness/__init__.py \
 && /venv/bin/pip install --no-cache-dir -c constraints.txt torch==2.13.0 .
COPY assistant assistant
COPY memory_store memory_store
COPY harness harness
RUN /venv/bin/pip install --no-cache-dir --no-deps --force-reinstall .

FROM python:3.11-slim
COPY --from=build /venv /venv
RUN useradd --uid 10001 --create-home app && install -d -o app /data
USER 10001
ENV PATH=/venv/bin:$PATH ASSISTANT_HOST=0.0.0.0 ASSISTANT_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ.get(\"ASSISTANT_PORT\", 8080)}/health')"]
# One process owns the memory; it needs a moment to finish writing when it is stopped.
STOPSIGNAL SIGTERM
CMD ["assistant", "serve"]
