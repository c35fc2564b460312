"""The command line: ``farthing COMMAND``, one file per command."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name."""
    try:
        import typer  # noqa: F401, PLC0415
    except ImportError:
        sys.exit("error: the command line needs typer and rich; install them: pip install 'farthing[cli]'")
    from farthing.cli.commands import app  # noqa: PLC0415

    app()
