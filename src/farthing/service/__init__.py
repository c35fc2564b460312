"""The service: ask for the next feature over HTTP, and a page to try it.

::

    settings -> shelf: the models, reloaded when files change
    request  -> body: strict JSON -> steps: one pure function a call -> answer
    guard around all of it: token, log line, counts; shortcut: a step passes the router by
    client, remote: the other side, whose walks are those of a local model
"""

try:
    from farthing.service.app import app_from_environment, create_app
    from farthing.service.client import AsyncClient, Client
    from farthing.service.remote import AsyncRemoteWalk, RemoteWalk
    from farthing.service.server import serve
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise ImportError(
        f"farthing.service needs more than farthing itself ({error}): pip install 'farthing[serve]'"
    ) from error
from farthing.service.settings import Settings
from farthing.service.shelf import Shelf

__all__ = [
    "AsyncClient",
    "AsyncRemoteWalk",
    "Client",
    "RemoteWalk",
    "Settings",
    "Shelf",
    "app_from_environment",
    "create_app",
    "serve",
]
