"""``farthing serve``: models over HTTP, and a page to try them."""

from __future__ import annotations

from typing import Annotated

import typer

from farthing.cli.app import app, fail
from farthing.cli.options import Trusted, split_names
from farthing.errors import FarthingError


@app.command()
def serve(  # noqa: PLR0917 - typer takes the options from here
    models: Annotated[
        list[str], typer.Argument(help="Model files, folders of *.farthing files, or name=file.")
    ],
    host: Annotated[
        str, typer.Option(help="Address to bind to; the default is reachable from this machine only.")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option(help="Port to bind to; 0 picks any free port.")] = 8000,
    workers: Annotated[int, typer.Option(help="Number of processes.")] = 1,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="FARTHING_TOKEN", help="Bearer token that clients must send.", show_default=False
        ),
    ] = None,
    tokens_file: Annotated[
        str | None,
        typer.Option(help="File with a token in each line, read again when it changes.", show_default=False),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            help="Name by which clients may address the service; may be repeated. By default those of this "
            "machine, if only it can reach the service, and any otherwise."
        ),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(help="Web origin that may call from a browser (CORS); may be repeated."),
    ] = None,
    max_body: Annotated[int, typer.Option(help="Maximum size of a request body, in bytes.")] = 4 * 2**20,
    max_rows: Annotated[int, typer.Option(help="Maximum number of rows in a bulk prediction.")] = 10_000,
    max_seconds: Annotated[float, typer.Option(help="Time limit of one request, in seconds.")] = 10.0,
    max_waiting: Annotated[
        int, typer.Option(help="Requests per worker that wait for a thread; more are answered 503 at once.")
    ] = 64,
    max_connections: Annotated[int, typer.Option(help="Connections per worker.")] = 1000,
    drain_seconds: Annotated[
        float, typer.Option(help="Seconds between SIGTERM, after which /readyz is 503, and the shutdown.")
    ] = 0.0,
    trusted: Trusted = None,
    tls_cert: Annotated[str | None, typer.Option(help="File of the TLS certificate.")] = None,
    tls_key: Annotated[str | None, typer.Option(help="File of its private key.")] = None,
    tls_key_password: Annotated[
        str | None, typer.Option(envvar="FARTHING_TLS_KEY_PASSWORD", help="Password of the key.")
    ] = None,
    tls_ca: Annotated[
        str | None, typer.Option(help="File of the authorities that clients need a certificate of.")
    ] = None,
    otel: Annotated[
        bool, typer.Option("--otel", help="Send OpenTelemetry spans; OTEL_* variables say where.")
    ] = False,
    reload_seconds: Annotated[
        float, typer.Option(help="Seconds between checks for changed files; 0 means never.")
    ] = 1.0,
    strict_categories: Annotated[
        bool, typer.Option("--strict-categories", help="Refuse categories unseen during fitting.")
    ] = False,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Serve models over HTTP: ask for the next feature, predict in bulk, or open the page in a browser.

    Files are reloaded when they change; a bad file is reported and the old model stays.
    """
    try:
        from farthing.service import Settings, server  # noqa: PLC0415 - only this command needs the extra
    except ImportError as error:
        raise fail(error) from None
    try:
        settings = Settings(
            sources=tuple(models),
            host=host,
            port=port,
            workers=workers,
            token=token,
            tokens_file=tokens_file,
            hosts=tuple(allowed_host or ()),
            origins=tuple(origin or ()),
            max_body=max_body,
            max_rows=max_rows,
            max_seconds=max_seconds,
            max_waiting=max_waiting,
            max_connections=max_connections,
            drain_seconds=drain_seconds,
            trusted=split_names(trusted),
            tls_cert=tls_cert,
            tls_key=tls_key,
            tls_key_password=tls_key_password,
            tls_ca=tls_ca,
            otel=otel,
            reload_seconds=reload_seconds,
            strict_categories=strict_categories,
            log_level=log_level,
        )
        store = server.check(settings)
    except (FarthingError, ValueError, OSError) as error:
        raise fail(error) from None
    scheme = "http" if tls_cert is None else "https"
    typer.echo(f"Serving on {scheme}://{host}:{port}/ (Ctrl+C to stop)", err=True)
    if danger := server.warning(settings):
        typer.secho(f"WARNING: {danger}.", err=True, fg="red", bold=True)
    server.serve(settings, store)
