"""Questions by templates: the file, its labels and sizes, and what is known without a history."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from authored import at_night, common_openings, found_by_words, repeated_replies
from benches import Finished
from commands import Server
from histories import chat, instance, write_data

from harness.datasets.longmemeval import load_longmemeval
from harness.judges.lexical.words import content_words, recall
from harness.lab.authoring.assembly import template_fillers
from harness.lab.authoring.plan import TYPES, WHENS, ontology, plan_items

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


def day_of(statement: str, told: date) -> date:
    """The day that a statement names, told on another, read from its words alone."""
    number = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
    before = statement.lower()
    if re.match(r"(today|earlier today|this very day)\b", before):
        return told
    if re.match(r"(only )?yesterday\b", before):
        return told - timedelta(days=1)
    if found := re.match(r"(\w+) days ago\b", before):
        return told - timedelta(days=number[found[1]])
    if found := re.match(r"(\w+) weeks? ago to the day\b", before):
        return told - timedelta(weeks=number.get(found[1], 1))
    for back in range(1, 20):
        day = told - timedelta(days=back)
        weekday, month = f"{day:%A}".lower(), f"{day:%B}".lower()
        if back < 7 and re.match(rf"(on|this past) {weekday}\b", before):
            return day
        if re.match(rf"on ({day.day} {month}|{month} {day.day})\b", before):
            return day
    raise AssertionError(f"no day in: {statement}")


def test_the_days_of_an_answer_are_those_that_the_statements_name(made: Path) -> None:
    questions = load_longmemeval(made / "questions.json")
    told = {line["item"]: line["evidence"] for line in lines(made / "evidence.jsonl")}
    found = [one for one in questions if one.question_type == "temporal-reasoning"]
    assert found
    for one in found:
        moments = [
            session.session_date.date()
            for session in one.sessions_by_date()
            if session.session_id in one.evidence_session_ids
        ]
        statements = [line["statement"] for line in told[one.question_id]]
        days = [day_of(said, moment) for said, moment in zip(statements, moments, strict=True)]
        last = one.question_date.date() if len(days) == 1 else days[1]
        assert one.answer.startswith(f"{abs((last - days[0]).days)} days. ")


def test_events_are_told_in_six_ways_and_no_two_of_a_question_on_one_day() -> None:
    items = plan_items(ontology(), ("temporal-reasoning",), 60, 1)
    assert {when.kind for item in items for when in item.whens} == set(WHENS)
    assert len(WHENS) == 6
    for item in items:
        assert len(set(item.days)) == len(item.dates)
        assert max(item.days) < item.asked.date()


def test_each_part_of_a_count_is_told_in_words_of_its_own(made: Path) -> None:
    told = {line["item"]: line["evidence"] for line in lines(made / "evidence.jsonl")}
    counts = [item for item in plan_items(ontology(), (), 3, 0) if item.type == "multi-session"]
    for item in counts:
        said = [line["statement"] for line in told[item.item_id]]
        bare = {words.replace(v, "") for words, v in zip(said, item.values, strict=True)}
        assert len(bare) == len(item.values) > 1
    for attribute in ontology().of_kinds("count"):
        assert len(attribute.says) >= 4, attribute.name


def test_what_is_told_stands_in_a_task_that_is_not_about_it(made: Path) -> None:
    known = ontology()
    planned = {item.item_id: item for item in plan_items(known, (), 3, 0)}
    seen = 0
    for line in lines(made / "chats.jsonl"):
        item = planned[line["item"]]
        topics = {attribute.topic for attribute in item.attributes}
        near = [asked for topic in topics for asked, _ in known.topics[topic]]
        for turns in line["chats"] if item.speaker == "user" and len(topics) == 1 else ():
            (labelled,) = [turn["content"] for turn in turns if turn.get("has_answer")]
            seen += 1
            assert not [asked for asked in near if asked in labelled]
    assert seen > 15


def test_histories_repeat_nothing_sleep_at_night_and_cannot_be_searched_by_words(
    harness: Harness, tmp_path: Path
) -> None:
    out = tmp_path / "large"
    given = ("--per-type", 3, "--sessions", 48, "--seed", 11)
    assert harness("author", "--template", "--out", out, *given).code == 0
    questions = load_longmemeval(out / "questions.json")
    assert repeated_replies(questions) == 0
    assert common_openings(questions) < 0.15
    assert at_night(questions) < 0.05
    assert found_by_words(questions, 5) <= 0.5
    for one in questions:
        opened = [s.turns[0].content for s in one.sessions]
        assert len(set(opened)) == len(opened)


def test_openings_and_replies_are_drawn_from_more_than_four_hundred() -> None:
    known = ontology()
    replies = [said for found in known.topics.values() for _, said in found]
    pool = [*replies, *known.openings, *(said for _, said in known.closings)]
    assert len(set(pool)) == len(pool) >= 400


def test_more_sessions_than_there_are_tasks_begin_the_pool_anew() -> None:
    known = ontology()
    (item,) = plan_items(known, ("multi-session",), 1, 4)
    sessions = template_fillers(known, item, 200)
    said = [turn["content"] for turns in sessions for turn in turns if turn["role"] == "assistant"]
    assert len(sessions) == 200
    assert len(set(said)) < len(said)
    assert max(Counter(said).values()) < 8


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
