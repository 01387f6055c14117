"""Receipts: given for what is written and forgotten, and verified by reading memory back."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import assert_error, chat, events, record
from local_documents import LocalDocuments
from served import served

from assistant import Settings, create_app
from assistant.access.keys import KeyFile, KeyScope, new_key
from assistant.receipts import key_among

ASKED = {"X-Memory-Receipt": "1"}
PIN = "My PIN is 4711."
NOW = datetime(2023, 6, 10, 9, tzinfo=UTC)


def told(http: httpx.Client, user_id: str, session_id: str, *texts: str) -> dict[str, Any]:
    """The receipt for rounds that are recorded."""
    messages = [{"role": "user", "content": text} for text in texts]
    reply = http.post(
        f"/v1/sessions/{session_id}/messages",
        json={"user_id": user_id, "messages": messages},
        headers=ASKED,
    )
    receipt: dict[str, Any] = reply.json()["receipt"]
    return receipt


def forgotten(http: httpx.Client, path: str, user_id: str) -> dict[str, Any]:
    """The receipt for what is forgotten."""
    reply = http.delete(path, params={"user_id": user_id}, headers=ASKED)
    receipt: dict[str, Any] = reply.json()["receipt"]
    return receipt


def verified(http: httpx.Client, receipt: dict[str, Any], **more: Any) -> dict[str, Any]:
    reply = http.post("/v1/receipts", json={"receipt": receipt, **more})
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def standing(found: dict[str, Any]) -> tuple[bool, int, int, int, int]:
    return found["holds"], found["there"], found["changed"], found["gone"], found["again"]


def test_what_was_written_is_there_until_it_is_changed_or_forgotten(
    http: httpx.Client, ann: str
) -> None:
    receipt = told(http, ann, f"{ann} s", PIN, "I row on Sundays.")
    assert (receipt["action"], receipt["rounds"]) == ("kept", 2)
    assert (receipt["user_id"], receipt["session_id"]) == (ann, f"{ann} s")
    assert standing(verified(http, receipt)) == (True, 2, 0, 0, 0)
    first, second = http.get("/v1/memories", params={"user_id": ann, "order": "oldest"}).json()[
        "data"
    ]
    corrected = http.patch(
        f"/v1/memories/{first['id']}",
        json={"user_id": ann, "user_text": "My PIN is secret."},
        headers=ASKED,
    ).json()
    assert standing(verified(http, receipt)) == (False, 1, 1, 0, 0)
    assert standing(verified(http, corrected["receipt"])) == (True, 1, 0, 0, 0)
    http.delete(f"/v1/memories/{second['id']}", params={"user_id": ann})
    assert standing(verified(http, receipt)) == (False, 0, 1, 1, 0)


def test_nothing_of_what_was_said_is_in_a_receipt(http: httpx.Client, ann: str) -> None:
    one, other = told(http, ann, "a", PIN), told(http, ann, "b", PIN)
    assert "4711" not in json.dumps([one, other])
    assert one["marks"] != other["marks"]


@pytest.mark.parametrize("what", ["memory", "session", "user", "rule"])
def test_what_was_forgotten_is_found_no_more(http: httpx.Client, ann: str, what: str) -> None:
    told(http, ann, f"{ann} s", PIN)
    saved = http.get(f"/v1/users/{ann}/export").text
    memory = http.get("/v1/memories", params={"user_id": ann}).json()["data"][0]["id"]
    if what == "rule":
        body = {"user_id": ann, "older_than_days": 0, "now": "2099-01-01T00:00:00Z"}
        receipt = http.post("/v1/retention", json=body, headers=ASKED).json()["receipt"]
    else:
        paths = {
            "memory": f"/v1/memories/{memory}",
            "session": f"/v1/sessions/{ann} s",
            "user": f"/v1/users/{ann}/memories",
        }
        receipt = forgotten(http, paths[what], ann)
    assert (receipt["action"], receipt["rounds"]) == ("removed", 1)
    assert standing(verified(http, receipt)) == (True, 0, 0, 1, 0)
    told(http, ann, f"{ann} s", "Something else.")
    assert standing(verified(http, receipt)) == (True, 0, 1, 0, 0)
    told(http, ann, "elsewhere", PIN)
    assert standing(verified(http, receipt)) == (True, 0, 1, 0, 1)
    http.delete(f"/v1/users/{ann}/memories")
    http.post(f"/v1/users/{ann}/import", content=saved)
    assert standing(verified(http, receipt)) == (False, 1, 0, 0, 0)


def test_a_space_has_receipts_of_its_own(http: httpx.Client, ann: str) -> None:
    headers = {**ASKED, "X-Memory-Space": "agent:cook"}
    body = {"user_id": ann, "messages": [{"role": "user", "content": PIN}]}
    receipt = http.post("/v1/sessions/s/messages", json=body, headers=headers).json()["receipt"]
    assert receipt["space"] == "agent:cook"
    assert verified(http, receipt)["holds"]
    everything = forgotten(http, f"/v1/users/{ann}/memories", ann)
    assert (everything["rounds"], everything["space"]) == (1, None)
    assert standing(verified(http, everything)) == (True, 0, 0, 1, 0)
    assert not verified(http, receipt)["holds"]
    http.post("/v1/sessions/s/messages", json=body, headers=headers)
    assert standing(verified(http, everything)) == (False, 1, 0, 0, 0)


def test_an_import_has_one_for_what_is_new(http: httpx.Client, ann: str) -> None:
    told(http, ann, "s", "I bake.")
    saved = http.get(f"/v1/users/{ann}/export").text
    other = f"{ann}'s other"
    sent = http.post(f"/v1/users/{other}/import", content=saved, headers=ASKED).json()
    assert standing(verified(http, sent["receipt"])) == (True, 1, 0, 0, 0)
    again = http.post(f"/v1/users/{other}/import", content=saved, headers=ASKED).json()
    assert (again["known"], "receipt" in again) == (1, False)
    message = {"role": "user", "content": "I knit.", "timestamp": "2022-03-04T10:00:00Z"}
    chats = json.dumps({"session_id": "old", "messages": [message]})
    params = {"format": "auto"}
    sent = http.post(f"/v1/users/{ann}/import", content=chats, params=params, headers=ASKED).json()
    assert standing(verified(http, sent["receipt"])) == (True, 1, 0, 0, 0)


def test_a_chat_has_one_where_it_is_asked_for(http: httpx.Client, ann: str) -> None:
    here = {"session_id": f"{ann} s"}
    assert "receipt" not in chat(http, ann, "I own a kayak.", metadata=here).json()
    asked = {**here, "memory_receipt": "1"}
    kept = chat(http, ann, "I own a tandem.", metadata=asked).json()["receipt"]
    assert standing(verified(http, kept)) == (True, 1, 0, 0, 0)
    reply = chat(http, ann, "I own a sledge.", metadata=asked, stream=True)
    assert verified(http, events(reply.text)[-2]["receipt"])["holds"]
    assert (
        "receipt"
        not in chat(http, ann, "Forget what I said about the tandem.", metadata=asked).json()
    )
    removed = chat(http, ann, "yes", metadata=asked).json()["receipt"]
    assert (removed["action"], removed["rounds"]) == ("removed", 1)
    assert standing(verified(http, removed)) == (True, 0, 0, 1, 0)
    assert not verified(http, kept)["holds"]


def test_none_for_what_was_not_done(http: httpx.Client, ann: str) -> None:
    told(http, ann, "s", PIN)
    params = {"user_id": ann, "dry_run": "true"}
    assert "receipt" not in http.delete("/v1/sessions/s", params=params, headers=ASKED).json()
    assert "receipt" not in http.delete("/v1/sessions/s", params={"user_id": ann}).json()


def test_a_forged_one_is_refused(http: httpx.Client, ann: str) -> None:
    receipt = told(http, ann, "s", PIN)
    other = told(http, ann, "s", "I juggle.")
    forged: dict[str, Any] = {
        "id": "receipt-0",
        "action": "removed",
        "user_id": f"{ann}'s sister",
        "space": "agent:cook",
        "session_id": "t",
        "memory_id": "m",
        "rounds": 2,
        "at": "2020-01-01T00:00:00Z",
        "expires_at": "2099-01-01T00:00:00Z",
        "nonce": other["nonce"],
        "marks": other["marks"],
        "signature": other["signature"],
    }
    assert set(forged) == set(receipt)
    for name, value in forged.items():
        changed = {"receipt": {**receipt, name: value}}
        reply = http.post("/v1/receipts", json=changed)
        assert_error(reply, 400, "invalid_request_error", "receipt_refused")
        less = {key: kept for key, kept in receipt.items() if key != name}
        reply = http.post("/v1/receipts", json={"receipt": less})
        assert_error(reply, 400, "invalid_request_error", "receipt_refused")
    reply = http.post("/v1/receipts", json={"receipt": {**receipt, "more": 1}})
    assert_error(reply, 400, "invalid_request_error", "receipt_refused")
    assert verified(http, receipt)["holds"]


def test_an_expired_one_is_refused(http: httpx.Client, ann: str) -> None:
    receipt = told(http, ann, "s", PIN)
    assert receipt["expires_at"] == "2024-06-10T09:00:00Z"
    assert verified(http, receipt, now=receipt["expires_at"])["holds"]
    late = {"receipt": receipt, "now": "2024-06-10T09:00:01Z"}
    reply = http.post("/v1/receipts", json=late)
    assert_error(reply, 400, "invalid_request_error", "receipt_expired")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of an assistant with a memory of its own."""
    settings = Settings(embedder="hash", data_dir=tmp_path / "data")
    app = create_app(settings, clock=lambda: NOW)
    with served(app) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


def test_after_a_scrub_the_bytes_are_gone(own: httpx.Client) -> None:
    told(own, "ann", "s", "My word is Zanzibarbarian, I told you.", "I told you more.")
    first = own.get("/v1/memories", params={"order": "oldest", "user_id": "ann"}).json()["data"][0]
    receipt = forgotten(own, f"/v1/memories/{first['id']}", "ann")
    words = ["Zanzibarbarian"]
    before = verified(own, receipt, words=words)
    assert before["disk"]["files"] > 0
    assert before["disk"]["found"]["Zanzibarbarian"] > 0
    assert not before["holds"]
    assert verified(own, receipt)["holds"]
    assert own.post("/v1/scrub", json={}).json()["scrubbed"]
    after = verified(own, receipt, words=words)
    assert (after["holds"], after["disk"]["found"]) == (True, {"Zanzibarbarian": 0})
    assert verified(own, receipt)["disk"] is None


def test_the_key_is_made_with_the_first_receipt_and_lasts(tmp_path: Path) -> None:
    settings = Settings(embedder="hash", data_dir=tmp_path)
    key = tmp_path / "receipts.key"
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as client:
        record(client, "ann", "s", PIN)
        assert not key.exists()
        receipt = told(client, "ann", "s", "I fence.")
        assert key.stat().st_mode & 0o777 == 0o600
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as client:
        assert verified(client, receipt)["holds"]
    key.write_text("no key")
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as client:
        params = {"user_id": "ann"}
        reply = client.delete("/v1/sessions/s", params=params, headers=ASKED)
        assert_error(reply, 500, "server_error", "keys_unreadable")
        assert client.get("/v1/sessions/s", params=params).status_code == 200


def test_one_is_for_its_user_and_files_are_for_the_admin(tmp_path: Path) -> None:
    tokens = {}
    for name in ("ann", "eve"):
        made = new_key(name, name, [], created_at="now")
        KeyFile(tmp_path / "keys.json").add(made.key)
        tokens[name] = {"Authorization": f"Bearer {made.token}"}
    admin = new_key("admin", None, [KeyScope.ADMIN], created_at="now")
    KeyFile(tmp_path / "keys.json").add(admin.key)
    tokens["admin"] = {"Authorization": f"Bearer {admin.token}"}
    settings = Settings(embedder="hash", data_dir=tmp_path)
    with served(create_app(settings)) as url:
        clients = {
            name: httpx.Client(base_url=url, headers=headers, timeout=60)
            for name, headers in tokens.items()
        }
        receipt = told(clients["ann"], "ann", "s", PIN)
        assert verified(clients["ann"], receipt)["holds"]
        reply = clients["eve"].post("/v1/receipts", json={"receipt": receipt})
        assert_error(reply, 400, "invalid_request_error", "receipt_refused")
        asked = {"receipt": receipt, "words": ["4711"]}
        reply = clients["ann"].post("/v1/receipts", json=asked)
        assert_error(reply, 403, "permission_error", "admin_required")
        assert verified(clients["admin"], receipt, words=["4711"])["disk"]["found"]["4711"] > 0
        for client in clients.values():
            client.close()


async def test_assistants_on_one_server_share_a_key() -> None:
    documents = LocalDocuments()
    one, other = await key_among(documents), await key_among(documents)
    assert one == other
    assert len(one) == 32
