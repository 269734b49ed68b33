# Sextant on Debian 12, with its Python package: docker build -t sextant . && docker run --rm sextant plan --gpus ...
#
# Probes of a GPU need CUDA, which this image does not have: plans, predictions, imports and reports do not.
FROM debian:12 AS build
WORKDIR /src
COPY . .
RUN apt-get update && scripts/package

FROM debian:12-slim
COPY --from=build /src/build/package/dist/sextant_*.deb /src/build/package/dist/python3-sextant_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/*.deb && \
    rm -rf /tmp/*.deb /var/lib/apt/lists/*
RUN useradd --create-home sextant
USER sextant
WORKDIR /home/sextant
ENTRYPOINT ["sextant"]
CMD ["--help"]
