"""Who may call, by which name, with which token; and what every answer tells a browser."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.serving import DIRECT, running

from farthing.forests import BudgetTreeClassifier
from farthing.service import Settings, access, server
from farthing.service.access import Tokens

NEXT = "/v1/models/heart/next"


def test_bearer_in_any_case(models: Path) -> None:
    with running(Settings(sources=(str(models),), token="right")) as url:
        for scheme in ("Bearer", "bearer", "BEARER"):
            sent = {"authorization": f"{scheme} right"}
            assert httpx.get(f"{url}/v1/models", headers=sent, **DIRECT).status_code == 200
        for wrong in ("Basic right", "Bearer  wrong", "right", "Bearer"):
            sent = {"authorization": wrong}
            assert httpx.get(f"{url}/v1/models", headers=sent, **DIRECT).status_code == 401


def test_a_page_may_read_why_it_was_refused(models: Path) -> None:
    settings = Settings(sources=(str(models),), token="t", origins=("https://a.example",))
    with running(settings) as url:
        refused = httpx.post(url + NEXT, json={}, headers={"origin": "https://a.example"}, **DIRECT)
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == "https://a.example"


def test_tokens_of_a_file_are_rotated_without_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "_CHECK_SECONDS", 0.0)
    file = tmp_path / "tokens"
    file.write_text("# of the wards\nward-7\n\nward-8\n")
    tokens = Tokens(file=str(file))
    assert tokens.allow(b"Bearer ward-7")
    assert tokens.allow(b"Bearer ward-8")
    assert not tokens.allow(b"Bearer # of the wards")
    assert not tokens.allow(b"Bearer ")
    file.write_text("ward-8\nward-99\n")
    assert not tokens.allow(b"Bearer ward-7")
    assert tokens.allow(b"Bearer ward-99")
    file.write_text("")  # being written: the old ones stay
    assert tokens.allow(b"Bearer ward-99")
    assert not tokens.allow(b"Bearer ")
    file.unlink()
    assert tokens.allow(b"Bearer ward-99")
    with pytest.raises(OSError, match="tokens"):
        Tokens(file=str(file))


def test_only_known_names_are_answered(models: Path) -> None:
    with running(Settings(sources=(str(models),), hosts=("localhost", "[::1]", "ward.example"))) as url:

        def status(host: str, path: str = "/v1/models") -> int:
            return httpx.get(url + path, headers={"host": host}, **DIRECT).status_code

        assert [status(host) for host in ("localhost:80", "[::1]:9", "Ward.Example")] == [200] * 3
        assert [status(host) for host in ("evil.example", "", "localhost.evil.example")] == [421] * 3
        assert status("10.1.2.3", "/healthz") == 200


def test_a_service_of_this_machine_knows_its_names(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Settings] = []
    monkeypatch.setattr(server, "run", lambda *_: None)
    monkeypatch.setattr(server.logging.config, "dictConfig", lambda _: None)
    monkeypatch.setattr(Settings, "to_environment", lambda self: told.append(self))  # noqa: PLW0108 - bound
    for host in ("127.0.0.1", "0.0.0.0"):
        server.serve(Settings(sources=(str(models / "heart.farthing"),), host=host))
    assert {"localhost", "127.0.0.1", "::1"} <= set(told[0].hosts)
    assert told[1].hosts == ()


def test_an_open_service_is_warned_of() -> None:
    assert "--token" in (server.warning(Settings(host="0.0.0.0")) or "")
    assert server.warning(Settings(host="0.0.0.0", token="t")) is None
    assert server.warning(Settings(host="127.0.0.1")) is None


def test_every_answer_has_safe_headers(models: Path) -> None:
    with running(Settings(sources=(str(models),), token="t")) as url:
        for path in ("/", "/healthz", "/openapi.json", "/v1/models", "/nowhere"):
            told = httpx.get(url + path, **DIRECT).headers
            assert told["x-content-type-options"] == "nosniff"
            assert "default-src 'none'" in told["content-security-policy"]
            assert len(told.get_list("content-security-policy")) == 1


def test_head_is_get_without_a_body(models: Path) -> None:
    with running(Settings(sources=(str(models),))) as url:
        for path in ("/", "/healthz", "/v1/models", "/v1/models/heart", "/metrics"):
            whole = httpx.get(url + path, **DIRECT)
            head = httpx.head(url + path, **DIRECT)
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["content-type"] == whole.headers["content-type"]


def test_tls_options_reach_the_server(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options: list[dict[str, object]] = []
    monkeypatch.setattr(server, "run", lambda config, _: options.append(vars(config)))
    monkeypatch.setattr(server.logging.config, "dictConfig", lambda _: None)
    monkeypatch.setenv("FARTHING_SERVICE", "")
    (tmp_path / "cert").touch()
    source = (str(models / "heart.farthing"),)
    server.serve(Settings(sources=source, tls_cert=str(tmp_path / "cert"), tls_ca=str(tmp_path / "cert")))
    assert options[0]["ssl_certfile"] == options[0]["ssl_ca_certs"] == str(tmp_path / "cert")
    assert options[0]["ssl_cert_reqs"] == 2
    with pytest.raises(FileNotFoundError, match="no file"):
        server.check(Settings(sources=source, tls_cert=str(tmp_path / "none")))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of files")
def test_the_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "tree.farthing"
    model = BudgetTreeClassifier().fit(np.eye(2), [0, 1])
    model.save(path)
    path.chmod(0o600)
    model.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
