"""Several models that answer over one memory: the client's `model` chooses."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import answer, assert_error, chat, rounds
from scripted_model import ScriptedModel
from served import served

from assistant import Settings, create_app
from assistant.errors import ConfigError
from assistant.settings import load_settings


def how(model: ScriptedModel, name: str, **more: Any) -> dict[str, Any]:
    return {"name": f"openai/{name}", "base_url": model.url, "api_key": "k", **more}


def test_each_profile_reads_by_its_own_preset(model: ScriptedModel, tmp_path: Path) -> None:
    profiles = {"plain": how(model, "claude-9"), "small-1": how(model, "gpt-4o", preset="small")}
    settings = Settings.model_validate(
        {"embedder": "hash", "data_dir": tmp_path, "profiles": profiles}
    )
    model.on("direct").reply("In Ghent.").reply("In Ghent, I think.")
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as http:
        listed = [one["id"] for one in http.get("/v1/models").json()["data"]]
        assert listed == ["aide-memoire", "aide-memoire-nomem", "plain", "small-1"]
        assert http.get("/v1/models/plain").json()["id"] == "plain"
        read = {"metadata": {"memory": "read_only"}}
        answer(chat(http, "ann", "I moved to Ghent.", metadata={"session_id": "s"}))
        quoted = answer(chat(http, "ann", "Where did I move to?", **read))
        assert "I moved to Ghent." in quoted
        first = chat(http, "ann", "Where did I move to?", model="plain", **read)
        assert (answer(first), first.json()["model"]) == ("In Ghent.", "plain")
        kept = {"metadata": {"session_id": "s"}}
        second = http.post(
            "/v1/responses",
            json={"model": "small-1", "input": "Where?", "user": "ann", "conversation": "s"},
        ).json()
        assert second["output"][0]["content"][0]["text"] == "In Ghent, I think."
        assert [sent.body["model"] for sent in model.sent] == ["claude-9", "gpt-4o"]
        assert all("I moved to Ghent." in sent.system for sent in model.sent[:1])
        assert [user for user, _ in rounds(http, "ann", "s")] == ["I moved to Ghent.", "Where?"]
        unknown = chat(http, "ann", "hi", model="other", **kept)
        error = assert_error(unknown, 404, "not_found_error", "model_not_found")
        assert "small-1" in error["message"]
        assert http.get("/version").json()["models"]["profile:plain"] == "openai/claude-9"
        assert http.get("/v1/usage").json()["roles"]["profile:plain"]["calls"] == 1


def test_a_request_to_forget_is_confirmed_in_another_profile(
    model: ScriptedModel, tmp_path: Path
) -> None:
    settings = Settings.model_validate(
        {"embedder": "hash", "data_dir": tmp_path, "profiles": {"m": how(model, "m")}}
    )
    in_s = {"metadata": {"session_id": "s"}}
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as http:
        answer(chat(http, "ann", "I moved to Ghent.", **in_s))
        answer(chat(http, "ann", "forget that", **in_s))
        answer(chat(http, "ann", "yes, delete", model="m", **in_s))
        assert rounds(http, "ann", "s") == []


@pytest.mark.parametrize(
    ("profiles", "said"),
    [
        ({"Fast": {"name": "openai/x"}}, "small letters"),
        ({"aide-memoire": {"name": "openai/x"}}, "every server"),
        ({"fast": {}}, "needs a name"),
        ({"fast": {"name": "openai/x", "preset": "other"}}, "expected one of"),
        ({"fast": {"name": "openai/x", "memory": 1}}, "memory"),
    ],
)
def test_wrong_profiles_stop_the_start(profiles: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_settings(profiles=profiles)
