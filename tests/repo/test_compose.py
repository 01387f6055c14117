"""What `docker compose up` starts: pinned, on loopback, with a probe that says when it is up."""

import re
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from qdrant_binary import VERSION, Qdrant, free_port

from assistant.settings import Settings, load_settings
from assistant.settings.listing import setting_fields

SERVICES: dict[str, Any] = yaml.safe_load((Path(__file__).parents[2] / "compose.yaml").read_text())[
    "services"
]


def test_the_server_is_the_version_that_tests_run_pinned_by_digest() -> None:
    image = re.escape(f"qdrant/qdrant:v{VERSION}") + "@sha256:[0-9a-f]{64}"
    assert re.fullmatch(image, SERVICES["qdrant"]["image"])


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_every_service_is_confined(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    assert service["tmpfs"] == ["/tmp"]
    assert service["pids_limit"]


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_ports_are_open_on_loopback_only(name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name]["ports"])


def test_no_key_is_written_down() -> None:
    keys = [
        value
        for service in SERVICES.values()
        for name, value in service["environment"].items()
        if name.endswith("API_KEY")
    ]
    assert keys
    assert all(value.startswith("${") for value in keys)


def test_the_assistant_waits_and_its_settings_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    assistant = SERVICES["assistant"]
    assert assistant["depends_on"]["qdrant"]["condition"] == "service_healthy"
    for name in assistant["environment"]:
        setting = name.removeprefix("ASSISTANT_").lower().replace("__", ".")
        names = {".".join(path) for path, _ in setting_fields(Settings)}
        assert setting in names | {"chat_model"}
    # What nobody sets arrives as an empty text.
    monkeypatch.setenv("ASSISTANT_CHAT_MODEL__API_KEY", "")
    assert not load_settings().chat_model.name
    assert not load_settings().chat_model.key


def test_up_starts_all_but_what_is_asked_for_by_name() -> None:
    asked_for = {name: service.get("profiles") for name, service in SERVICES.items()}
    assert asked_for == {"qdrant": None, "assistant": None, "embedded": ["embedded"]}
    embedded = SERVICES["embedded"]
    assert "depends_on" not in embedded
    assert not [name for name in embedded["environment"] if "QDRANT" in name]


@pytest.mark.parametrize(("name", "volume"), [("assistant", "keys"), ("embedded", "embedded")])
def test_the_assistant_writes_to_its_volume_alone_and_may_finish(name: str, volume: str) -> None:
    assistant = SERVICES[name]
    assert assistant["volumes"] == [f"{volume}:/data"]
    assert assistant["environment"]["ASSISTANT_API_KEY"].startswith("${ASSISTANT_API_KEY:?")
    seconds = int(assistant["stop_grace_period"].removesuffix("s"))
    assert seconds > load_settings().shutdown_seconds


def probe(port: int) -> int:
    command: list[str] = SERVICES["qdrant"]["healthcheck"]["test"]
    script = command[-1].replace("$$", "$").replace("6333", str(port))
    return subprocess.run([*command[1:-1], script], stderr=subprocess.DEVNULL).returncode


def test_the_probe_fails_where_nothing_listens() -> None:
    assert probe(free_port()) != 0


@pytest.mark.qdrant_server
def test_the_probe_finds_a_server_ready_without_its_key(own_qdrant: Qdrant) -> None:
    own_qdrant.api_key = "secret"
    own_qdrant.start()
    assert probe(own_qdrant.port) == 0


@pytest.mark.qdrant_server
def test_the_server_writes_to_its_volume_and_to_tmp_alone(own_qdrant: Qdrant) -> None:
    """In the image it works in /qdrant, with the volume in /qdrant/storage."""
    folders = {"/qdrant": own_qdrant.folder, "/tmp": own_qdrant.folder / "tmp"}
    (own_qdrant.folder / "tmp").mkdir(parents=True)
    for name, value in SERVICES["qdrant"]["environment"].items():
        if name.endswith("_PATH"):
            root = next(one for one in folders if value.startswith(f"{one}/"))
            own_qdrant.environment[name] = value.replace(root, str(folders[root]), 1)
    own_qdrant.start()
    collection = f"{own_qdrant.url}/collections/one"
    vectors = {"vectors": {"size": 2, "distance": "Dot"}}
    httpx.put(collection, json=vectors, timeout=60).raise_for_status()
    httpx.post(f"{collection}/snapshots", timeout=60).raise_for_status()
    # The log is the test's own.
    assert {one.name for one in own_qdrant.folder.iterdir()} == {"storage", "tmp", "log"}
    assert [one.name for one in (own_qdrant.folder / "tmp").iterdir()] == ["qdrant-initialized"]
    assert list((own_qdrant.folder / "storage/snapshots/one").glob("*.snapshot"))
