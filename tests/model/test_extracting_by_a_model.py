"""Facts by a model whose JSON loops, breaks off or says nothing: each round ends as done or as a
failure with its reason, and is found either way."""

import httpx
from calls import record, rounds
from commands import Server
from real_model import RealModel

SECONDS = 300.0
TOLD = (
    ("My sister Ana moved to Lisbon last week.", "How exciting for her!"),
    ("I pay 950 euros of rent now; before it was 900.", "Noted."),
)
FAILED = ("bad_model_reply", "reply_unfinished", "model_timeout")


def test_every_round_ends_and_is_found(extracting: Server, model: RealModel) -> None:
    with httpx.Client(base_url=extracting.url, timeout=SECONDS) as http:
        said = [text for pair in TOLD for text in pair]
        ended = record(http, "tess", "diary", *said, close=True).json()["enrichment"]
        assert ended["pending"] == 0
        assert ended["done"] + ended["failed"] == len(TOLD)
        (listed,) = http.get("/v1/sessions", params={"user_id": "tess"}).json()["data"]
        reasons = [one["reason"].partition(":")[0] for one in listed["failures"]]
        assert len(reasons) == ended["failed"]
        assert set(reasons) <= set(FAILED)
        assert rounds(http, "tess", "diary") == list(TOLD)
        asked = {"user_id": "tess", "query": "How much rent do I pay?"}
        best = http.post("/v1/memories/search", json=asked).json()["data"][0]
        assert "950" in best["user_text"]
        used = http.get("/v1/usage").json()["roles"]["extract"]
        assert used["calls"] >= 1
        # Whatever did not fail with the call was read, perhaps after it was sent back once.
        assert ended["failed"] == 0 or used["failed"] + used["repaired"] > 0
    assert model.rests(20), "the model still writes a reply that nobody waits for"


def test_after_a_failure_the_next_session_has_its_turn(extracting: Server) -> None:
    with httpx.Client(base_url=extracting.url, timeout=SECONDS) as http:
        for user in ("uma", "vic"):
            ended = record(http, user, "s", "I bought a red canoe.", "Nice.", close=True)
            assert ended.json()["enrichment"]["pending"] == 0
        assert http.get("/ready").status_code == 200
