# Two images. Serving an export, without PyTorch (the last stage, which is built unless another is named):
#
#   docker build -t zsnmt .
#   docker run --rm -p 5000:5000 -v "$PWD/runs/mine/zs_transformer_direct/seed1/ctranslate2-int8:/export:ro" zsnmt
#
# Everything, on a CPU: training, evaluation, runs that are not exported:
#
#   docker build -t zsnmt-full --target full .
#   docker run --rm -v "$PWD/text:/work/text" -v "$PWD/runs:/work/runs" zsnmt-full train text/mine
#
# See docs/install.md.
ARG PYTHON=3.11
FROM python:${PYTHON}-slim AS wheel
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:${PYTHON}-slim AS full
# The address of PyTorch's index for a CPU, or for a version of CUDA; without it the package index decides.
ARG TORCH_INDEX=
ENV VENV=/opt/zsnmt/.venv PATH=/opt/zsnmt/.venv/bin:$PATH RUNS=/work/runs PIP_NO_CACHE_DIR=1
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends g++ libtcmalloc-minimal4 \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/zsnmt
COPY . .
RUN PIP_EXTRA_INDEX_URL="$TORCH_INDEX" bash scripts/setup.sh \
 && useradd --uid 1000 --create-home zsnmt \
 && install --directory --owner zsnmt /work
USER 1000
WORKDIR /work
ENTRYPOINT ["zsnmt"]
CMD ["--help"]

FROM python:${PYTHON}-slim AS light
RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/zsnmt-*.whl)[translate,serve,documents]" \
 && useradd --uid 1000 --create-home zsnmt
USER 1000
WORKDIR /work
EXPOSE 5000
HEALTHCHECK CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:5000/health')"]
ENTRYPOINT ["zsnmt"]
CMD ["serve", "/export", "--host", "0.0.0.0"]
