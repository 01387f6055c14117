"""Data sets by the name given on the command line."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from harness.datasets.beam import chat_name, content_digest, questions_of, read_chats, size_of
from harness.datasets.dataset import CHECKED_WHOLE, Dataset, Fingerprint, Gold, Gradual
from harness.datasets.digests import digest_of
from harness.datasets.files import read_records, sha256_of
from harness.datasets.formats.catalogue import FORMATS, REFUSED, Format
from harness.datasets.golds import read_corrections, require_known
from harness.datasets.lives import LIVES, LONG_LIVES, files_of, read_lives
from harness.datasets.locomo import parse_conversation, parse_locomo
from harness.datasets.locomo_plus import parse_plus
from harness.datasets.longmemeval import iterate_instances, question_of
from harness.datasets.plugin import content_hash, load_plugin
from harness.datasets.questions import Question
from harness.datasets.refined import CONVERSATIONS, digests_of, is_public, samples_of
from harness.datasets.sample import build_sample
from harness.datasets.scan import AnotherOrder, Extent, read_extent, scan
from harness.datasets.selection import QuestionSource
from harness.errors import DatasetError, UsageError
from harness.records.digest import QuestionDigest

BUILT_IN = ("lives", "long-lives", "sample")
DATASETS = (
    *("longmemeval", "locomo", "locomo-refined", "locomo-plus", "beam"),
    *FORMATS,
    *BUILT_IN,
)
_PACKED = (".gz", ".xz")

Reader = Callable[[Collection[str]], Iterator[Question]]


def open_source(source: QuestionSource) -> Dataset:
    """The data of a source, all of it; raises `UsageError` for a pool: nothing is asked of it."""
    if source.dataset in FORMATS and FORMATS[source.dataset].is_pool:
        raise UsageError(
            f"{source.dataset} is a pool of chats: nothing is asked of it; "
            "`harness stats` describes it"
        )
    return open_dataset(source.dataset, source.file, source.gold, source.conversations)


def open_dataset(
    name: str, file: Path | None, gold: Path | None = None, conversations: Path | None = None
) -> Dataset:
    """A data set ready to be read; `gold` corrects LoCoMo's labels, `conversations` are those that
    LoCoMo-Plus's cues are told in.

    Raises `UsageError` for a name or file that does not go, `DatasetError` for damaged data; of a
    very large file only the beginnings of its records are looked at here.
    """
    if gold is not None and name not in ("locomo", "locomo-refined"):
        raise UsageError(f"--gold corrects locomo and locomo-refined, not {name}")
    if conversations is not None and name != "locomo-plus":
        raise UsageError(f"--conversations is for locomo-plus, not {name}")
    if name == "lives":
        return _lives(name, file or LIVES, file)
    if name in BUILT_IN:
        if file is not None:
            raise UsageError(f"{name} is built in: leave --file out")
        return _sample() if name == "sample" else _lives(name, LONG_LIVES)
    if ":" in name:
        return _plugin(name, file)
    if name in REFUSED:
        raise UsageError(REFUSED[name])
    if name not in DATASETS:
        known = f"{', '.join(DATASETS)}, or module:Class"
        raise UsageError(f"unknown data set {name!r}, expected one of {known}")
    if file is None:
        raise UsageError(f"--dataset {name} needs --file")
    return _of_file(name, file, gold, conversations)


def _of_file(name: str, file: Path, gold: Path | None, conversations: Path | None) -> Dataset:
    if name in FORMATS:
        return _of_format(name, FORMATS[name], file)
    if name == "longmemeval":
        return _longmemeval(file)
    if name == "locomo-plus":
        return _locomo_plus(file, conversations)
    return _beam(file) if name == "beam" else _locomo(name, file, gold)


def _lives(name: str, folder: Path, file: Path | None = None) -> Dataset:
    questions, files = read_lives(folder), files_of(folder)
    if not questions:
        raise DatasetError(f"{folder}: holds no lives")
    text = "".join(f"{sha256_of(each)}  {each.name}\n" for each in files)
    fingerprint = Fingerprint.known(hashlib.sha256(text.encode()).hexdigest())
    return _in_memory(name, file, sum(map(_size, files)), fingerprint, questions)


def sample_json() -> str:
    """The built-in set as a LongMemEval file: the same text every time."""
    return json.dumps(build_sample(), ensure_ascii=False, indent=1) + "\n"


def _sample() -> Dataset:
    text = sample_json()
    instances = iterate_instances(json.loads(text), source="sample")
    questions = [instance.question for instance in instances]
    fingerprint = Fingerprint.known(hashlib.sha256(text.encode()).hexdigest())
    return _in_memory("sample", None, len(text), fingerprint, questions)


def _plugin(name: str, file: Path | None) -> Dataset:
    plugin = load_plugin(name, file)
    outlines = [digest_of(question) for question in plugin.questions()]
    if not outlines:
        raise DatasetError(f"{name}: holds no questions")

    def read(ids: Collection[str]) -> Iterator[Question]:
        return (question for question in plugin.questions() if question.question_id in ids)

    if file is None:
        fingerprint = Fingerprint.known(content_hash(plugin.questions()))
        return Dataset(name, None, 0, fingerprint, outlines, read)
    return Dataset(name, file.name, _size(file), Fingerprint.of_file(file), outlines, read)


def _of_format(name: str, form: Format, file: Path) -> Dataset:
    """Read again each time; the hash of several files is that of their hashes and names."""
    size = _size(file)
    outlines = [digest_of(question) for question in form.read(file)]
    if not outlines:
        raise DatasetError(f"{file}: holds no questions")
    _require_distinct((outline.question_id for outline in outlines), file)
    files = form.files(file)
    fingerprint = Fingerprint.of_file(file)
    if len(files) > 1:
        text = "".join(f"{sha256_of(each)}  {each.name}\n" for each in files)
        fingerprint = Fingerprint.known(hashlib.sha256(text.encode()).hexdigest())

    def read(ids: Collection[str]) -> Iterator[Question]:
        return (question for question in form.read(file) if question.question_id in ids)

    return Dataset(name, file.name, size, fingerprint, outlines, read)


def _longmemeval(file: Path) -> Dataset:
    size = _size(file)
    found = _found(file) if size > CHECKED_WHOLE and file.suffix not in _PACKED else None
    listed: list[QuestionDigest] | Gradual[QuestionDigest]
    if found is None:
        instances = iterate_instances(read_records(file), source=str(file))
        listed = [digest_of(instance.question) for instance in instances]
        reader = _streaming(file)
    else:
        extents = Gradual(found)
        listed = Gradual(_unread(extent) for extent in extents)
        reader = _seeking(file, extents)
    return Dataset("longmemeval", file.name, size, Fingerprint.of_file(file), listed, reader)


def _found(file: Path) -> Iterator[Extent] | None:
    """The places of all questions as they are found, None for a file that must be read whole."""
    extents = scan(file)
    try:
        first = next(extents)
    except AnotherOrder:
        return None
    return _distinct(chain([first], extents), file)


def _streaming(file: Path) -> Reader:
    def read(ids: Collection[str]) -> Iterator[Question]:
        for number, record in enumerate(read_records(file)):
            if record.get("question_id") in ids:
                yield question_of(record, number, str(file))

    return read


def _seeking(file: Path, extents: Gradual[Extent]) -> Reader:
    def read(ids: Collection[str]) -> Iterator[Question]:
        left = len(ids)
        for number, extent in enumerate(extents):
            if extent.question_id in ids:
                yield question_of(read_extent(file, extent, number), number, str(file))
                left -= 1
                if not left:  # the rest of the file need not be known yet
                    return

    return read


def _require_distinct(ids: Iterable[str], file: Path) -> None:
    """Raises `DatasetError` for an id that occurs twice."""
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise DatasetError(f"{file}: question_id {name!r} occurs twice")
        seen.add(name)


def _distinct(extents: Iterator[Extent], file: Path) -> Iterator[Extent]:
    seen: set[str] = set()
    try:
        for extent in extents:
            if extent.question_id in seen:
                raise DatasetError(f"{file}: question_id {extent.question_id!r} occurs twice")
            seen.add(extent.question_id)
            yield extent
    except AnotherOrder as error:
        raise DatasetError(
            f"{file}: after {len(seen)} questions a record does not begin with question_id and "
            "question_type, as those before it do: compress the file (.gz) so that it is "
            "read as a whole"
        ) from error


def _unread(extent: Extent) -> QuestionDigest:
    is_abstention = extent.question_id.endswith("_abs")
    return QuestionDigest.unread(
        extent.question_id, extent.question_type, is_abstention=is_abstention
    )


def _locomo(name: str, file: Path, gold_file: Path | None) -> Dataset:
    corrections = {} if gold_file is None else read_corrections(gold_file)
    samples = _samples(file)
    if samples is None:
        if gold_file is not None:
            raise UsageError("--gold needs the file with the conversations")
        return _questions_alone(name, file)
    questions = parse_locomo(samples, source=str(file), corrections=corrections)
    gold = None
    if gold_file is not None:
        ids = (question.question_id for question in questions)
        changed = require_known(corrections, ids, gold_file)
        gold = Gold(gold_file.name, sha256_of(gold_file), changed)
    return _in_memory(name, file, _size(file), Fingerprint.of_file(file), questions, gold)


def _beam(path: Path) -> Dataset:
    """Outlines are few; chats are read again, one at a time, when their questions are asked."""
    outlines: list[QuestionDigest] = []
    chats: set[str] = set()
    for number, record in enumerate(read_chats(path)):
        name = chat_name(record)
        if name in chats:
            raise DatasetError(f"{path}: chat {name} occurs twice")
        chats.add(name)
        outlines += map(digest_of, questions_of(record, f"{path}: chat {number}"))
    if not outlines:
        raise DatasetError(f"{path}: holds no questions")

    def read(ids: Collection[str]) -> Iterator[Question]:
        wanted = {name.partition("#")[0] for name in ids}
        for number, record in enumerate(read_chats(path)):
            if chat_name(record) in wanted:
                found = questions_of(record, f"{path}: chat {number}")
                yield from (question for question in found if question.question_id in ids)

    fingerprint = Fingerprint.known(content_digest(path))
    return Dataset("beam", path.name, size_of(path), fingerprint, outlines, read)


def _locomo_plus(file: Path, conversations: Path | None) -> Dataset:
    told = [
        parse_conversation(sample, f"conversation-{number}", f"{conversations}: sample {number}")
        for number, sample in enumerate(read_records(conversations) if conversations else ())
    ]
    questions = list(parse_plus(read_records(file), told, source=str(file)))
    if not questions:
        raise DatasetError(f"{file}: holds no questions")
    if conversations is None:
        fingerprint = Fingerprint.of_file(file)
        return _in_memory("locomo-plus", file, _size(file), fingerprint, questions)
    both = f"{sha256_of(file)} {sha256_of(conversations)}"
    fingerprint = Fingerprint.known(hashlib.sha256(both.encode()).hexdigest())
    size = _size(file) + _size(conversations)
    dataset = _in_memory("locomo-plus", file, size, fingerprint, questions)
    return replace(dataset, file=f"{file.name} in {conversations.name}")


def _samples(file: Path) -> Iterator[dict[str, Any]] | None:
    """The samples of either layout, or None where only questions are there."""
    records = read_records(file)
    first = next(records, None)
    if first is None:
        raise DatasetError(f"{file}: holds no questions")
    if not is_public(first):
        return chain([first], records)
    conversations = file.with_name(CONVERSATIONS)
    return samples_of([first, *records], conversations) if conversations.exists() else None


def _questions_alone(name: str, file: Path) -> Dataset:
    def read(ids: Collection[str]) -> Iterator[Question]:
        raise UsageError(
            f"{file} holds questions without their conversations: they can be judged, not "
            f"replayed; put {CONVERSATIONS} beside it, or use locomo_refined.json"
        )

    outlines = digests_of(read_records(file), str(file))
    return Dataset(name, file.name, _size(file), Fingerprint.of_file(file), outlines, read)


def _in_memory(
    name: str,
    file: Path | None,
    size: int,
    fingerprint: Fingerprint,
    questions: list[Question],
    gold: Gold | None = None,
) -> Dataset:
    def read(ids: Collection[str]) -> Iterator[Question]:
        return (question for question in questions if question.question_id in ids)

    outlines = [digest_of(question) for question in questions]
    return Dataset(name, file.name if file else None, size, fingerprint, outlines, read, gold)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError as error:
        raise DatasetError(f"{file}: cannot be read ({error.strerror or error})") from error
