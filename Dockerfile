# rlx alone: `docker build -t rlx . && docker run --rm -v "$PWD:/work" rlx relax-check model.rlx`
# `--user "$(id -u):$(id -g)"` lets `relax-check --fix` and `rlx fmt` write to your files.
FROM python:3.11-slim

# the C compiler runs PrimFuncs as native code
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*

COPY . /src
RUN pip install --no-cache-dir /src && rm -rf /src

RUN useradd --create-home rlx
USER rlx
WORKDIR /work
CMD ["rlx", "--help"]
