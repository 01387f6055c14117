"""A diary of sixty messages over fourteen weeks, with the recorded replies of a strong model: each
fact that is replaced was shown to the model when it was needed, and reaches readers as replaced.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import answer, chat
from extractions import session
from pydantic import SecretStr
from scripted_model import Reply, ScriptedModel, Sent
from served import served

from assistant import Settings, create_app
from memory_store import Round, as_stated
from memory_store._facts import words_of

DIARY: list[dict[str, Any]] = json.loads((Path(__file__).parent / "diary.json").read_text())
"""Each message with the day it was said and the facts that the model finds in it. `replaces` names
one of them by its text, and what is over of it where that is not all."""


def round_of(said: Mapping[str, Any]) -> Round:
    at = datetime.fromisoformat(f"{said['at']}+00:00")
    return Round("ann", "diary", 0, at, said["said"])


FOUND = [(one, round_of(said)) for said in DIARY for one in said["facts"]]
STORED = {one["text"]: as_stated(one["text"], round) for one, round in FOUND}
"""Under which text a fact is kept: the user's own sentence where that says the same."""


def replacements(*, surely: bool) -> dict[str, str]:
    """What is replaced, and by what; only by the user's sure own words, or only by others."""
    return {
        _over(one["replaces"]): STORED[one["text"]]
        for one, round in FOUND
        if "replaces" in one and words_of(round).is_sure is surely
    }


def _over(replaces: Mapping[str, str]) -> str:
    stored = STORED[replaces["text"]]
    at = stored.casefold().index(replaces["part"].casefold())
    return stored[at : at + len(replaces["part"])] if replaces["part"] else stored


class StrongModel:
    """Gives the recorded replies; `missing` are the pairs whose older fact it was not shown."""

    def __init__(self) -> None:
        self.missing: list[tuple[str, str]] = []
        self.most_known = 0
        self._recorded = {said["said"]: said["facts"] for said in DIARY}

    def work(self, sent: Sent) -> Reply:
        shown = session(sent)
        numbers = {one["fact"]: one["number"] for one in shown["known"]}
        self.most_known = max(self.most_known, len(numbers))
        rounds = []
        for round in shown["rounds"]:
            facts = [self._fact(one, numbers) for one in self._recorded[round["user"]]]
            rounds.append({"round": round["round"], "facts": facts})
        return Reply((json.dumps({"rounds": rounds}),))

    def _fact(self, one: Mapping[str, Any], numbers: dict[str, int]) -> dict[str, Any]:
        replaces = []
        if older := one.get("replaces"):
            number = numbers.get(STORED[older["text"]]) or numbers.get(older["text"])
            if number is None:
                self.missing.append((older["text"], one["text"]))
            else:
                replaces = [{"number": number, "part": older["part"]}]
        numbers[one["text"]] = max(numbers.values(), default=0) + 1
        return {
            "number": numbers[one["text"]],
            "text": one["text"],
            "speaker": "user",
            "dates": one.get("dates", []),
            "replaces": replaces,
        }


@pytest.fixture
def client(model: ScriptedModel, tmp_path: Path) -> Iterator[httpx.Client]:
    settings = Settings(
        data_dir=tmp_path,
        chat_model="openai/fake",
        chat_model_base_url=model.url,
        chat_model_api_key=SecretStr("k"),
        extract_model="openai/fake",
        extract_model_base_url=model.url,
        extract_model_api_key=SecretStr("k"),
        extract_model_retries=0,
        enrichment={"idle_seconds": 600.0},
    )
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=120) as client:
        yield client


def tell(client: httpx.Client, *said: Mapping[str, Any]) -> None:
    turns = [
        {"role": role, "content": text, "timestamp": f"{one['at']}Z"}
        for one in said
        for role, text in (("user", one["said"]), ("assistant", "Noted."))
    ]
    body = {"user_id": "ann", "messages": turns, "close": True, "wait": True}
    reply = client.post("/v1/sessions/diary/messages", json=body)
    assert reply.status_code == 200, reply.text
    assert reply.json()["enrichment"]["failed"] == 0


def replaced(client: httpx.Client) -> dict[str, str]:
    """The texts of facts that are replaced, each with what replaced it."""
    body = client.get("/v1/sessions/diary", params={"user_id": "ann"}).json()
    facts = [one for value in body["data"] for one in value["facts"] if one["superseded_by"]]
    return {one["text"]: one["superseded_by"]["text"] for one in facts}


# One message, some days, or all of them are one session to the model.
@pytest.mark.parametrize("at_once", [1, pytest.param(9, marks=pytest.mark.slow), 60])
def test_every_replaced_fact_is_known_when_it_is_needed(
    client: httpx.Client, model: ScriptedModel, at_once: int
) -> None:
    strong = StrongModel()
    model.on("extract_facts").always(strong.work)
    for first in range(0, len(DIARY), at_once):
        tell(client, *DIARY[first : first + at_once])
    assert strong.missing == []
    gone = replaced(client)
    assert replacements(surely=True).items() <= gone.items()
    assert len(replacements(surely=True)) >= 15
    assert not replacements(surely=False).keys() & gone.keys()


def test_what_is_replaced_reaches_the_answering_model_as_replaced(
    client: httpx.Client, model: ScriptedModel
) -> None:
    model.on("extract_facts").always(StrongModel().work)
    model.on("chain_of_note").reply("ANSWER:\nIn Linz.")
    tell(client, *DIARY)
    asked = {"timestamp": "2026-05-12T10:00:00Z", "session_id": "asking"}
    assert answer(chat(client, "ann", "Where does Ben live?", metadata=asked)) == "In Linz."
    (sent,) = model.requests("chain_of_note")
    assert (
        '"replaced": "“lives in graz” by “Ben moves to Linz.” on 2026-03-08 (Sun)"' in sent.system
    )
