"""Other benchmarks' layouts: made files open, replay and score; broken ones say where and why."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from scripted_assistant import ScriptedAssistant

from harness.datasets.questions import Question
from harness.datasets.registry import BENCHMARKS, open_dataset
from harness.errors import DatasetError, UsageError
from harness.judges.registry import named_option

Made = Callable[[Path], Path]
SAID = [
    {"role": "system", "content": "Name: Ada"},
    {"role": "user", "content": "User: I keep bees on my roof."},
    {"role": "assistant", "content": "Assistant: How many hives?"},
]


def written(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(record) for record in records))
    return path


def table(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def personamem(folder: Path, **changes: Any) -> Path:
    written(folder / "shared_contexts_32k.jsonl", {"c1": [*SAID, *SAID[1:]]})
    row = {
        "question_id": "q1",
        "question_type": "recall",
        "user_question_or_message": "Which hobby suits me?",
        "correct_answer": "(b)",
        "all_options": "['(a) Sailing boats', '(b) Tending beehives']",
        "shared_context_id": "c1",
        "end_index_in_shared_context": "3",
    }
    return table(folder / "questions_32k.csv", row | changes)


def personamem_of(folder: Path, ends: list[str]) -> Path:
    """A table whose rows see the context up to these places."""
    personamem(folder)
    with (folder / "questions_32k.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    rows = [
        row | {"question_id": f"q{number}", "end_index_in_shared_context": end}
        for number, end in enumerate(ends)
    ]
    return table(folder / "questions_32k.csv", *rows)


def personamem_v2(folder: Path, **changes: Any) -> Path:
    written(folder / "data/chat.json", {"chat_history": SAID})
    row = {
        "chat_history_32k_link": "data/chat.json",
        "user_query": "{'role': 'user', 'content': 'Which hobby suits me?'}",
        "correct_answer": "Tending beehives",
        "incorrect_answers": '["Sailing boats", "Growing tulips"]',
        "pref_type": "hobby",
    }
    return table(folder / "benchmark.csv", row | changes)


def halumem(folder: Path, **changes: Any) -> Path:
    point = {"memory_content": "Ada keeps bees"}
    asked = {
        "question": "What does Ada keep?",
        "answer": "bees",
        "question_type": "Basic",
        "evidence": [point],
    }
    session = {
        "start_time": "Sep 04, 2025, 10:00:00",
        "dialogue": SAID[1:],
        "memory_points": [point],
        "questions": [asked],
    }
    return written(folder / "halumem.jsonl", {"uuid": "u1", "sessions": [session | changes]})


def perltqa(folder: Path, **changes: Any) -> Path:
    stored = {
        "profile": {"Protagonist": "Ada", "Age": 40},
        "events": {"1_0": {"content": "Ada bought a hive.", "Creation Time": "in spring"}},
        "dialogues": {"1_0#0": {"contents": {"2022-05-15 10:00": ["Ada: Bees!", "Tom: Where?"]}}},
    }
    written(folder / "perltmem.json", {"Ada": stored})
    asked = {"Question": "What did Ada buy?", "Answer": "a hive", "Reference Memory": "['1_0']"}
    return written(folder / "perltqa.json", {"Ada": {"events": [{"1_0": [asked | changes]}]}})


def memorybank(folder: Path, **changes: Any) -> Path:
    said = {"query": "I keep bees.", "response": "Lovely."}
    written(folder / "memory_bank_en.json", {"Ada": {"history": {"2023-05-02": [said]}}})
    asked = {"question": "What do I keep?", "answer": "bees"} | changes
    return written(folder / "probing_questions_en.jsonl", {"Ada": [asked.get("bare", asked)]})


def dialsim(folder: Path, **changes: Any) -> Path:
    asked = {
        "questions": {"Tom": "What does Ada keep?"},
        "options": ["Bees", "Cats"],
        "answer": "bees",
    }
    scene = {
        "date": "September 22, 1994",
        "script": "Ada: I keep\nbees.\nTom: Nice.",
        "hard_q": {"past": [asked | changes]},
    }
    return written(folder / "show.json", {"e1": {"1": scene}})


def convomem(folder: Path, **changes: Any) -> Path:
    said = {"speaker": "User", "text": "I keep bees."}
    item = {
        "question": "What do I keep?",
        "answer": "bees",
        "message_evidences": [said],
        "conversations": [{"messages": [said, {"speaker": "Assistant", "text": "Fine."}]}],
    }
    return written(folder / "changing_evidence/x.json", {"evidence_items": [item | changes]})


def msc(folder: Path, **changes: Any) -> Path:
    talk = [{"text": "I keep bees."}, {"text": "I bake."}]
    record = {
        "previous_dialogs": [{"dialog": talk}],
        "dialog": talk[1:],
        "self_instruct": {"B": "What do I keep?", "A": "bees"},
    }
    return written(folder / "msc.jsonl", record | changes)


def dulemon(folder: Path, **changes: Any) -> Path:
    record = {"conversation": ["Usr: I keep bees.\tU1", "Bot: Fine."]}
    return written(folder / "dulemon.json", record | changes)


def chats(folder: Path, **changes: Any) -> Path:
    return memorybank(folder, **changes).with_name("memory_bank_en.json")


def pairs(folder: Path, **changes: Any) -> Path:
    record = {"q": "Which insects?", "pos": ["I keep bees."], "neg": ["I bake."], "kind": "plain"}
    return written(folder / "pairs.jsonl", record | changes)


MADE: dict[str, Callable[..., Path]] = {
    "personamem": personamem,
    "personamem-v2": personamem_v2,
    "halumem": halumem,
    "perltqa": perltqa,
    "memorybank": memorybank,
    "dialsim": dialsim,
    "convomem": convomem,
    "msc-self-instruct": msc,
    "msc": msc,
    "dulemon": dulemon,
    "memorybank-chats": chats,
    "pairs": pairs,
}
POOLS = [name for name in BENCHMARKS if BENCHMARKS[name].is_pool]
TRIED_ELSEWHERE = {
    *("longmemeval", "locomo", "locomo-refined", "locomo-plus", "beam"),
    *("lives", "long-lives", "sample", "cases"),
}
CHOICES = ("personamem", "personamem-v2", "dialsim")


def test_every_layout_is_tried() -> None:
    assert set(MADE) == set(BENCHMARKS) - TRIED_ELSEWHERE


@pytest.mark.parametrize("name", [name for name in MADE if name not in POOLS])
def test_a_made_file_is_replayed_and_scored(
    name: str, assistant: ScriptedAssistant, harness: Callable[..., Finished], tmp_path: Path
) -> None:
    file, out = MADE[name](tmp_path), tmp_path / "run"
    judge = "choice" if name in CHOICES else "lexical"
    command = ("--dataset", name, "--file", file, "--assistant", assistant.url, "--out", out)
    ended = harness("run", *command, "--no-probe", "--judge", judge)
    assert ended.code == 0, ended.err
    assert json.loads((out / "report.json").read_text())["n"] == 1
    wire = "\n".join(str(sent.body) for sent in assistant.wire)
    assert "bees" in wire.lower()
    for label in ("Name: Ada", "memory_points", "evidence", "1_0#0", "correct_answer", "U1"):
        assert label not in wire


@pytest.mark.parametrize("name", POOLS)
def test_a_pool_is_described_and_not_run(
    name: str, harness: Callable[..., Finished], tmp_path: Path
) -> None:
    file = MADE[name](tmp_path)
    found = json.loads(harness("stats", "--dataset", name, "--file", file, "--json").out)
    assert (found["counts"]["histories"], found["counts"]["questions"]) == (1, 0)
    ended = harness(
        *("run", "--dataset", name, "--file", file, "--assistant", "http://127.0.0.1:9"),
        *("--out", tmp_path / "run"),
    )
    assert (ended.code, "nothing is asked of it" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "changes", "complaint"),
    [
        ("personamem", {"correct_answer": "(d)"}, "line 2: correct_answer: no such option"),
        ("personamem", {"shared_context_id": "c9"}, "line 2: shared_context_id: 'c9'"),
        ("personamem", {"end_index_in_shared_context": "9"}, "1 to 5, found 9"),
        ("personamem", {"all_options": "[oops"}, "all_options: neither JSON nor"),
        ("personamem-v2", {"chat_history_32k_link": "no.json"}, "no such file"),
        ("personamem-v2", {"chat_history_32k_link": "../../x"}, "a path below"),
        ("halumem", {"start_time": "soon"}, r"entry 0: sessions\[0\]: start_time: expected a date"),
        ("halumem", {"dialogue": "Hi"}, r"sessions\[0\]: dialogue: expected a list, found str"),
        ("perltqa", {"Answer": None}, r"Ada: events\[0\]: 1_0\[0\]: Answer: expected text"),
        ("memorybank", {"bare": "What do I keep?"}, "entry 0: Ada: this question has no answer"),
        ("dialsim", {"answer": "dogs"}, "options: the correct answer is not among them"),
        ("dialsim", {"answer": 3}, "answer: expected text, found int"),
        ("convomem", {"conversations": []}, r"evidence_items\[0\]: conversations: holds no"),
        ("msc-self-instruct", {"self_instruct": 3}, "self_instruct: expected an object, found int"),
        ("msc", {"previous_dialogs": None}, "entry 0: previous_dialogs: expected a list"),
        ("dulemon", {"conversation": ["Ada: Hi"]}, "entry 0: conversation: expected 'Usr: …'"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(
    name: str, changes: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(DatasetError, match=complaint):
        open_dataset(name, MADE[name](tmp_path, **changes))


def test_trajectories_and_pickles_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="trajectories of agents"):
        open_dataset("longmemeval-v2", tmp_path / "x.json")
    (tmp_path / "show.pickle").write_bytes(b"")
    with pytest.raises(DatasetError, match="a pickle is not opened"):
        open_dataset("dialsim", tmp_path / "show.pickle")


def test_evidence_is_found_by_what_each_layout_names(tmp_path: Path) -> None:
    for name in ("halumem", "perltqa", "convomem"):
        dataset = open_dataset(name, MADE[name](tmp_path / name))
        (question,) = next(dataset.histories({dataset.outlines[0].question_id}))
        assert len(question.evidence_session_ids) == 1


def test_rows_of_one_history_are_put_together(tmp_path: Path) -> None:
    dataset = open_dataset("personamem", personamem_of(tmp_path, ["3", "5", "3"]))
    histories = dataset.histories({"q0", "q1", "q2"})
    assert [[q.question_id for q in history] for history in histories] == [["q0", "q2"], ["q1"]]


def test_the_question_may_be_called_as_in_the_repository(tmp_path: Path) -> None:
    dataset = open_dataset("personamem", personamem(tmp_path, question="And my hobby?"))
    (question,) = next(iter(dataset.histories({"q1"})))
    assert question.question.startswith("And my hobby?")


def test_a_file_of_several_histories_is_refused(tmp_path: Path) -> None:
    file = personamem_v2(tmp_path)
    written(tmp_path / "data/chat.json", {"chat_history": SAID}, {"chat_history": SAID})
    with pytest.raises(DatasetError, match="expected one history, found 2"):
        open_dataset("personamem-v2", file)


def test_scenes_of_a_day_keep_their_order_however_many_came_before(tmp_path: Path) -> None:
    file = dialsim(tmp_path)
    scene = json.loads(file.read_text())["e1"]["1"]
    before = scene | {"date": "September 21, 1994", "hard_q": {}}
    scenes = {str(n): before if n < 599 else scene for n in range(602)}
    dataset = open_dataset("dialsim", written(file, {"e1": scenes}))
    (question,) = next(iter(dataset.histories({"e1:601:past:0"})))
    dates = [session.session_date for session in question.sessions]
    assert dates == sorted(dates)
    assert len(set(dates)) == 602


def test_questions_that_are_no_list_are_refused(tmp_path: Path) -> None:
    file = dialsim(tmp_path)
    scene = json.loads(file.read_text())["e1"]["1"] | {"hard_q": {"past": 3}}
    with pytest.raises(DatasetError, match="hard_q: past: expected questions, found int"):
        open_dataset("dialsim", written(file, {"e1": {"1": scene}}))


def test_of_a_dialogue_all_sessions_are_evidence_and_no_turn(tmp_path: Path) -> None:
    file = perltqa(tmp_path)
    stored = json.loads((tmp_path / "perltmem.json").read_text())
    stored["Ada"]["dialogues"]["1_0#0"]["contents"]["2022-05-16 10:00"] = ["Ada: Honey!"]
    written(tmp_path / "perltmem.json", stored)
    asked = {"Question": "What is made?", "Answer": "honey", "Reference Memory": "['1_0#0']"}
    dataset = open_dataset("perltqa", written(file, {"Ada": {"dialogues": [{"1_0#0": [asked]}]}}))
    (question,) = next(iter(dataset.histories({dataset.outlines[0].question_id})))
    assert len(question.evidence_session_ids) == 2
    assert not any(turn.has_answer for session in question.sessions for turn in session.turns)


def test_a_day_on_which_nothing_was_said_is_no_session(tmp_path: Path) -> None:
    file = memorybank(tmp_path)
    bank = tmp_path / "memory_bank_en.json"
    days = json.loads(bank.read_text())["Ada"]["history"]
    written(bank, {"Ada": {"history": {"2023-05-01": [], **days, "2023-05-03": []}}})
    dataset = open_dataset("memorybank", file)
    (question,) = next(iter(dataset.histories({dataset.outlines[0].question_id})))
    (session,) = question.sessions
    assert (session.position, f"{session.session_date:%Y-%m-%d}") == (0, "2023-05-02")


def read_pairs(file: Path) -> list[Question]:
    dataset = open_dataset("pairs", file)
    return list(dataset.read({one.question_id for one in dataset.outlines}))


def test_pairs_share_a_history_in_which_answers_keep_their_order(tmp_path: Path) -> None:
    lines = [
        {
            "q": f"Where is crate {n}?",
            "pos": [f"Crate {n} stood in bay {bay}." for bay in range(4)],
            "neg": [f"Crate {n} is green."],
            "kind": "newest",
        }
        for n in range(30)
    ]
    found = read_pairs(written(tmp_path / "pairs.jsonl", *lines))
    assert [len(one.sessions) for one in found] == [125] * 25 + [25] * 5
    for one, line in zip(found, lines, strict=True):
        labelled = [s.turns[0].content for s in one.sessions if s.turns[0].has_answer]
        assert labelled == line["pos"] == one.answer.splitlines()
    first = [session.turns[0].content.split()[1] for session in found[0].sessions]
    assert len(set(first[:25])) > 10


def test_a_message_that_answers_and_stands_beside_it_is_told_twice(tmp_path: Path) -> None:
    line = {"q": "Which insects?", "pos": ["I keep bees."], "neg": ["I keep bees.", "I bake."]}
    (found,) = read_pairs(written(tmp_path / "pairs.jsonl", line | {"kind": "plain"}))
    assert sorted(s.turns[0].content for s in found.sessions) == [
        *("I bake.", "I keep bees.", "I keep bees.")
    ]
    assert found.answer == "I keep bees."


def test_a_pair_without_a_message_that_answers_is_an_abstention(tmp_path: Path) -> None:
    (one,) = read_pairs(pairs(tmp_path, pos=[]))
    assert (one.is_abstention, one.evidence_session_ids) == (True, ())


def test_the_pairs_of_the_repository_open(tmp_path: Path) -> None:
    folder = Path(__file__).parents[3] / "benchmarks/memory_pairs"
    files = [*(folder / f"{name}.jsonl" for name in "abcd"), *folder.glob("*/*.jsonl")]
    counts = [len(read_pairs(file)) for file in files]
    assert counts[:4] == [350, 350, 349, 350]
    assert min(counts) > 300


def test_the_right_option_may_stand_under_two_letters_and_no_other_may(tmp_path: Path) -> None:
    options = "['(a) Tending beehives', '(b) Tending beehives', '(c) Sailing boats']"
    dataset = open_dataset("personamem", personamem(tmp_path / "a", all_options=options))
    (question,) = dataset.read({"q1"})
    assert question.options.count(question.answer) == 2
    for said in ("(a)", "(b)", "Tending beehives"):
        named = named_option(said, question.options)
        assert named is not None
        assert question.options[named] == question.answer
    wrong = "['(a) Sailing boats', '(b) Tending beehives', '(c) Sailing boats']"
    with pytest.raises(DatasetError, match="an option is empty or occurs twice"):
        open_dataset("personamem", personamem(tmp_path / "b", all_options=wrong))
