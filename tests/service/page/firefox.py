"""Firefox over WebDriver BiDi, which it speaks by itself: no driver is needed, only a socket."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SECONDS = 90.0
_KEYS = {"Enter": "\ue007", "Tab": "\ue004", "Escape": "\ue00c"}


class WebSocket:
    """A client of RFC 6455, for text messages."""

    def __init__(self, port: int, path: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=_SECONDS)
        self._buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        while b"\r\n\r\n" not in self._buffer:
            self._buffer += self._received()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101"), head

    def send(self, text: str) -> None:
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", 0x81, 0x80 | size)
        elif size < 2**16:
            head = struct.pack("!BBH", 0x81, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x81, 0x80 | 127, size)
        self._socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def receive(self) -> str:
        whole = b""
        while True:
            first, second = self._take(2)
            size = second & 0x7F
            if size >= 126:
                size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
            part = self._take(size)
            assert first & 0x0F != 8, "Firefox closed the connection"
            if first & 0x0F in (0, 1):
                whole += part
                if first & 0x80:
                    return whole.decode()

    def close(self) -> None:
        self._socket.close()

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._buffer += self._received()
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    def _received(self) -> bytes:
        data = self._socket.recv(2**16)
        assert data, "Firefox hung up"
        return data


class Page:
    """One tab, used as a person would: a pointer, keys, and what can be seen."""

    def __init__(self, port: int) -> None:
        self._line = WebSocket(port, "/session")
        self._sent = 0
        self.faults: list[str] = []
        self.version = self.call("session.new", capabilities={})["capabilities"]["browserVersion"]
        self._tab = self.call("browsingContext.getTree")["contexts"][0]["context"]
        self.call("session.subscribe", events=["log.entryAdded"])

    def call(self, method: str, **params: Any) -> Any:
        """Send a command, and return its result; errors of the page are noted on the way."""
        self._sent += 1
        self._line.send(json.dumps({"id": self._sent, "method": method, "params": params}))
        while True:
            said = json.loads(self._line.receive())
            if said.get("method") == "log.entryAdded" and said["params"]["level"] == "error":
                self.faults.append(said["params"]["text"])
            if said.get("id") == self._sent:
                assert said["type"] == "success", said
                return said["result"]

    def resize(self, width: int, height: int) -> None:
        self.call(
            "browsingContext.setViewport", context=self._tab, viewport={"width": width, "height": height}
        )

    def open(self, url: str) -> None:
        self.call("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def find(self, script: str) -> Any:
        """Return what an expression of the page gives, as JSON."""
        done = self.call(
            "script.evaluate",
            expression=f"JSON.stringify({script})",
            target={"context": self._tab},
            awaitPromise=True,
        )
        assert done["type"] == "success", done
        return json.loads(done["result"].get("value", "null"))

    def wait(self, script: str) -> Any:
        """Wait until an expression is true, and return it."""
        end = time.monotonic() + _SECONDS
        while not (found := self.find(script)):
            assert time.monotonic() < end, f"{script} is still {found!r}"
            time.sleep(0.05)
        return found

    def text(self, place: str) -> str:
        found = self.find(f"document.querySelector({json.dumps(place)})?.innerText ?? ''")
        return str(found).replace("\u00a0", " ")

    def click(self, place: str, pointer: str = "mouse") -> None:
        """Press at the middle of an element, with a mouse or a finger."""
        wanted = f"document.querySelector({json.dumps(place)})"
        # A new question ignores pointers for a moment.
        self.wait(f"{wanted} !== null && {wanted}.closest('.settling') === null")
        script = (
            f"(e => {{ e.scrollIntoView({{block: 'center'}}); return e.getBoundingClientRect(); }})({wanted})"
        )
        box = self.find(script)
        at = {"x": round(box["x"] + box["width"] / 2), "y": round(box["y"] + box["height"] / 2)}
        self._act(
            {
                "type": "pointer",
                "id": pointer,
                "parameters": {"pointerType": pointer},
                "actions": [
                    {"type": "pointerMove", **at},
                    {"type": "pointerDown", "button": 0},
                    {"type": "pointerUp", "button": 0},
                ],
            }
        )

    def keys(self, *keys: str) -> None:
        """Press keys; a word is typed."""
        pressed = [_KEYS[key]] if len(keys) == 1 and (key := keys[0]) in _KEYS else list("".join(keys))
        actions = [{"type": kind, "value": key} for key in pressed for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": actions})

    def shoot(self, path: Path) -> None:
        shot = self.call("browsingContext.captureScreenshot", context=self._tab, origin="document")
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        self._line.close()

    def _act(self, source: dict[str, Any]) -> None:
        self.call("input.performActions", context=self._tab, actions=[source])


@contextlib.contextmanager
def running(program: str, folder: Path) -> Iterator[Page]:
    """Run Firefox without a window, on a profile of its own."""
    log = folder / "firefox.log"
    profile = folder / "profile"
    profile.mkdir()
    # No page of its own, no updates, nothing sent, and the language that the tests read.
    (profile / "user.js").write_text(
        "\n".join(
            f'user_pref("{name}", {json.dumps(value)});'
            for name, value in {
                "app.update.enabled": False,
                "browser.aboutwelcome.enabled": False,
                "browser.shell.checkDefaultBrowser": False,
                "datareporting.policy.dataSubmissionEnabled": False,
                "intl.accept_languages": "en-GB, en",
                "network.captive-portal-service.enabled": False,
                "network.connectivity-service.enabled": False,
                "toolkit.telemetry.enabled": False,
            }.items()
        )
    )
    command = [
        program,
        "--headless",
        "--no-remote",
        "--profile",
        str(profile),
        "--remote-debugging-port",
        "0",
    ]
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [*command, "about:blank"],
            stdout=stream,
            stderr=stream,
            env={**os.environ, "HOME": str(folder), "MOZ_DISABLE_CONTENT_SANDBOX": "1"},
        )
    try:
        page = Page(_port(log, process))
        try:
            yield page
        finally:
            page.close()
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _port(log: Path, process: subprocess.Popen[bytes]) -> int:
    end = time.monotonic() + _SECONDS
    while process.poll() is None and time.monotonic() < end:
        if found := re.search(r"BiDi listening on ws://127\.0\.0\.1:(\d+)", log.read_text(errors="replace")):
            return int(found[1])
        time.sleep(0.05)
    raise AssertionError(f"Firefox did not start: {log.read_text(errors='replace')}")
