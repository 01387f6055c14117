"""Questions by templates: the file, its labels and sizes, and what is known without a history."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from commands import Server
from histories import chat, instance, write_data

from harness.datasets.longmemeval import load_longmemeval
from harness.judges.lexical.words import content_words, recall
from harness.lab.authoring.assembly import template_fillers
from harness.lab.authoring.plan import TYPES, ontology, plan_items

Harness = Callable[..., Finished]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def made(harness: Harness, tmp_path: Path) -> Path:
    """Three questions of each type with twelve sessions."""
    out = tmp_path / "made"
    ended = harness("author", "--template", "--out", out, "--per-type", 3, "--sessions", 12)
    assert ended.code == 0, ended.err
    return out


def test_the_ontology_is_as_large_as_is_promised_and_each_attribute_can_be_told_and_asked() -> None:
    known = ontology()
    assert len({one.name for one in known.attributes}) == len(known.attributes) >= 160
    assert len({one.category for one in known.attributes}) >= 5
    for one in known.attributes:
        assert one.topic in known.topics, one.name
        assert one.says, one.name
        assert one.thing if one.kind == "event" else one.asks, one.name
        assert one.kind == "event" or len(set(one.values)) == len(one.values) >= 4, one.name
        gap = "{n}" if one.kind == "advice" else "{v}"
        assert one.kind == "event" or all(gap in said for said in one.says), one.name
        assert ("{v}" in one.now) == (one.kind == "change"), one.name


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_questions(
    harness: Harness, tmp_path: Path
) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        made = ("author", "--template", "--out", tmp_path / name, "--per-type", 2, "--seed", seed)
        assert harness(*made, "--sessions", 8).code == 0
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file
    same = "questions.json"
    assert (tmp_path / "a" / same).read_bytes() != (tmp_path / "c" / same).read_bytes()


def test_all_seven_types_are_there_and_labelled(made: Path) -> None:
    questions = load_longmemeval(made / "questions.json")
    kinds = Counter("abstention" if one.is_abstention else one.question_type for one in questions)
    assert kinds == dict.fromkeys(TYPES, 3)
    for one in questions:
        named = {s.session_id for s in one.sessions if s.session_id in one.evidence_session_ids}
        labelled = {s.session_id for s in one.sessions for turn in s.turns if turn.has_answer}
        assert named == set(one.evidence_session_ids) != set()
        assert labelled == (set() if one.is_abstention else named)
        assert len(one.sessions) == 12
        assert max(s.session_date for s in one.sessions) < one.question_date
        speaks = {t.role for s in one.sessions for t in s.turns if t.has_answer}
        said_by = "assistant" if one.question_type == "single-session-assistant" else "user"
        assert speaks == (set() if one.is_abstention else {said_by})


def test_every_evidence_turn_holds_its_statement_word_for_word(made: Path) -> None:
    told = {line["item"]: line["evidence"] for line in lines(made / "evidence.jsonl")}
    for line in lines(made / "chats.jsonl"):
        for statement, turns in zip(told[line["item"]], line["chats"], strict=True):
            (labelled,) = [turn["content"] for turn in turns if turn.get("has_answer")]
            assert statement["statement"] in labelled


def test_the_days_of_an_answer_are_those_between_the_sessions(made: Path) -> None:
    questions = load_longmemeval(made / "questions.json")
    found = [one for one in questions if one.question_type == "temporal-reasoning"]
    for one in found:
        days = [
            session.session_date.date()
            for session in one.sessions_by_date()
            if session.session_id in one.evidence_session_ids
        ]
        last = one.question_date.date() if len(days) == 1 else days[1]
        assert one.answer.startswith(f"{(last - days[0]).days} days. ")


def test_no_filler_tells_what_an_attribute_of_the_questions_topic_says() -> None:
    """A session on the same topic may be there; nothing that its attributes say is."""
    known = ontology()
    for item in plan_items(known, (), 2, 3):
        topics = {one.topic for one in item.attributes}
        near = [one for one in known.attributes if one.topic in topics]
        told = [said.split("{v}")[-1] for one in near for said in (*one.says, one.now) if said]
        texts = "\n".join(
            turn["content"] for turns in template_fillers(known, item, 60) for turn in turns
        )
        assert not [said for said in told if len(said) > 20 and said in texts]


def test_questions_share_few_words_with_their_evidence(made: Path) -> None:
    shares = []
    for one in load_longmemeval(made / "questions.json"):
        turns = [turn for session in one.sessions for turn in session.turns if turn.has_answer]
        said = [word for turn in turns for word in content_words(turn.content)]
        shares.append(recall(content_words(one.question), said))
    # Those of LongMemEval share .56 of theirs (benchmarks/LOG.md).
    assert 0 < sum(shares) / len(shares) < 0.5


def test_more_questions_than_there_are_different_ones_are_refused(
    harness: Harness, tmp_path: Path
) -> None:
    ended = harness("author", "--template", "--out", tmp_path / "x", "--per-type", 5000)
    assert ended.code == 2
    assert "different" in ended.err


def test_another_seed_in_the_same_folder_is_refused(harness: Harness, made: Path) -> None:
    ended = harness("author", "--template", "--out", made, "--per-type", 3, "--seed", 9)
    assert ended.code == 2
    assert "seed" in ended.err


@pytest.fixture
def pools(tmp_path: Path) -> Iterator[dict[str, Path]]:
    said = [f"How do I fold a paper crane number {n}?" for n in range(30)]
    records = {
        "longmemeval": [
            instance(f"q{n}", haystack_sessions=[chat("Evidence", has_answer=True), chat(text)])
            for n, text in enumerate(said)
        ],
        "sharegpt": [
            {
                "id": str(n),
                "conversations": [
                    {"from": "system", "value": "Be kind."},
                    {"from": "human", "value": text},
                    {"from": "gpt", "value": "Carefully."},
                ],
            }
            for n, text in enumerate(said)
        ],
        "ultrachat": [{"id": str(n), "data": [t, "Carefully."]} for n, t in enumerate(said)],
        "messages": [{"messages": chat(text)} for text in said],
    }
    return {name: write_data(tmp_path / f"{name}.json", rows) for name, rows in records.items()}


@pytest.mark.parametrize("shape", ["longmemeval", "sharegpt", "ultrachat", "messages"])
def test_fillers_come_from_a_pool_of_any_shape(
    harness: Harness, pools: dict[str, Path], tmp_path: Path, shape: str
) -> None:
    out = tmp_path / "out"
    given = ("--per-type", 1, "--sessions", 9, "--pool", pools[shape])
    ended = harness("author", "--template", "--out", out, *given)
    assert ended.code == 0, ended.err
    for one in load_longmemeval(out / "questions.json"):
        fillers = [s for s in one.sessions if s.session_id not in one.evidence_session_ids]
        assert len(one.sessions) == 9
        assert all("paper crane" in session.turns[0].content for session in fillers)


def test_a_session_of_the_pool_that_tells_what_the_evidence_tells_is_left_out(
    harness: Harness, tmp_path: Path
) -> None:
    out, given = tmp_path / "out", ("--types", "single-session-user", "--per-type", 1)
    assert harness("author", "--template", "--out", out, *given, "--sessions", 2).code == 0
    (told,) = lines(out / "evidence.jsonl")[0]["evidence"]
    rival = told["statement"].replace(lines(out / "questions.jsonl")[0]["answer"], "Zanzibar")
    others = [f"I once saw {n} geese over the canal." for n in range(30)]
    pool = write_data(tmp_path / "pool.json", [{"messages": chat(t)} for t in [rival, *others]])
    out = tmp_path / "pooled"
    ended = harness("author", "--template", "--out", out, *given, "--sessions", 26, "--pool", pool)
    assert ended.code == 0, ended.err
    (made,) = load_longmemeval(out / "questions.json")
    said = {turn.content for session in made.sessions for turn in session.turns}
    assert len(said & set(others)) == 25
    assert rival not in said


def test_a_pool_that_does_not_suffice_or_is_no_pool_is_refused(
    harness: Harness, pools: dict[str, Path], tmp_path: Path
) -> None:
    begun = ("author", "--template", "--per-type", 1)
    large = harness(*begun, "--out", tmp_path / "a", "--sessions", 90, "--pool", pools["ultrachat"])
    assert large.code == 2
    assert "at most" in large.err
    for who, complaint in (("x", "unknown speaker 'x'"), (["x"], "unknown speaker ['x']")):
        said = [{"conversations": [{"from": who, "value": ""}]}]
        broken = write_data(tmp_path / "broken.json", said)
        ended = harness(*begun, "--out", tmp_path / "b", "--sessions", 9, "--pool", broken)
        assert ended.code == 2
        assert f"record 0: {complaint}" in ended.err


def test_without_a_history_at_most_one_question_in_twenty_is_answered(
    harness: Harness, made: Path, tmp_path: Path
) -> None:
    server = Server(tmp_path / "memory")
    server.start()
    try:
        ended = harness(
            *("run", "--dataset", "longmemeval", "--file", made / "questions.json"),
            *("--assistant", server.url, "--mode", "no-memory", "--out", tmp_path / "probe"),
        )
    finally:
        server.end()
    assert ended.code == 0, ended.err
    report = json.loads((tmp_path / "probe" / "report.json").read_text())
    assert report["n"] == 21
    assert report["accuracy"]["overall"]["value"] <= 0.05
