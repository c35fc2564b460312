"""Models over HTTP: a client asks for the next feature; a page to try it.

::

    settings -> model_store: the models, reloaded when their files change
    request -> middleware (token, log, metrics) -> fast_path or router -> request_handler
        -> request_body (strict JSON) -> request_checks -> walk_steps or bulk_predictions -> answer
    client, remote_walk: the other side, with the interface of a local model
"""

try:
    from farthing.service.app import app_from_environment, create_app
    from farthing.service.client import AsyncClient, Client
    from farthing.service.remote_walk import AsyncRemoteWalk, RemoteWalk
    from farthing.service.server import serve
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise ImportError(
        f"farthing.service needs more than farthing itself ({error}): pip install 'farthing[serve]'"
    ) from error
from farthing.service.model_store import ModelStore
from farthing.service.settings import Settings

__all__ = [
    "AsyncClient",
    "AsyncRemoteWalk",
    "Client",
    "ModelStore",
    "RemoteWalk",
    "Settings",
    "app_from_environment",
    "create_app",
    "serve",
]
