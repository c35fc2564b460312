"""``farthing serve``: models over HTTP, and a page to try them."""

from __future__ import annotations

from typing import Annotated

import typer

from farthing.cli.app import app, fail
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
    origin: Annotated[
        list[str] | None,
        typer.Option(help="Web origin that may call from a browser (CORS); may be repeated."),
    ] = None,
    max_body: Annotated[int, typer.Option(help="Maximum size of a request body, in bytes.")] = 4 * 2**20,
    max_rows: Annotated[int, typer.Option(help="Maximum number of rows in a bulk prediction.")] = 10_000,
    max_seconds: Annotated[float, typer.Option(help="Time limit of one request, in seconds.")] = 10.0,
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
            origins=tuple(origin or ()),
            max_body=max_body,
            max_rows=max_rows,
            max_seconds=max_seconds,
            reload_seconds=reload_seconds,
            strict_categories=strict_categories,
            log_level=log_level,
        )
        server.check(settings)
    except (FarthingError, ValueError, OSError) as error:
        raise fail(error) from None
    typer.echo(f"Serving on http://{host}:{port}/ (Ctrl+C to stop)", err=True)
    server.serve(settings)
