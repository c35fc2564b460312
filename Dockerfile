# The service: docker build -t farthing . && docker run -p 8000:8000 -v "$PWD/models:/models:ro" farthing
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python -m venv /opt/farthing && /opt/farthing/bin/pip install --no-cache-dir ".[serve]"

FROM python:3.12-slim
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin farthing
COPY --from=build /opt/farthing /opt/farthing
ENV PATH=/opt/farthing/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /models
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=3s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
# Every model in /models; more options: docs/service.md.
ENTRYPOINT ["farthing", "serve", "--host", "0.0.0.0"]
CMD ["/models"]
