"""Models are frozen while a service runs; what a process froze by itself stays as it is."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from farthing.service import Settings, app, create_app


@pytest.mark.parametrize(
    ("frozen_before", "expected"), [(0, ["collect", "freeze", "serve", "unfreeze"]), (7, ["serve"])]
)
def test_objects_that_the_process_froze_stay_frozen(
    models: Path, monkeypatch: pytest.MonkeyPatch, frozen_before: int, expected: list[str]
) -> None:
    calls: list[str] = []
    collector = {name: lambda name=name: calls.append(name) for name in ("collect", "freeze", "unfreeze")}
    monkeypatch.setattr(app, "gc", SimpleNamespace(get_freeze_count=lambda: frozen_before, **collector))
    served = create_app(Settings(sources=(str(models),)))

    async def serve() -> None:
        async with served.router.lifespan_context(served):
            calls.append("serve")

    asyncio.run(serve())
    assert calls == expected
