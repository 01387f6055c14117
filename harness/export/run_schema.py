"""The JSON schema of the files of a run directory, made of the types that the harness writes them
with.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from harness.records import run_dir
from harness.records.digest import QuestionDigest
from harness.records.manifest import FORMAT
from harness.records.plan import PLAN, Plan
from harness.records.schema import (
    AttemptLine,
    ControlLine,
    FailureLine,
    FaultyLine,
    HypothesisLine,
    IngestLine,
    ManifestData,
    PromptLine,
    RetrievalLine,
    VerdictLine,
)
from harness.report.schema import Report

Schema = dict[str, Any]
# The type of what each file holds; for a .jsonl file, of what each line holds.
FILES: Mapping[str, type] = {
    run_dir.MANIFEST: ManifestData,
    run_dir.QUESTIONS: QuestionDigest,
    run_dir.ATTEMPTS: AttemptLine,
    run_dir.INGEST: IngestLine,
    run_dir.RETRIEVAL: RetrievalLine,
    run_dir.HYPOTHESES: HypothesisLine,
    run_dir.PROMPTS: PromptLine,
    run_dir.VERDICTS: VerdictLine,
    run_dir.SECOND_VERDICTS: VerdictLine,
    run_dir.CONTROLS: ControlLine,
    run_dir.FAILURES: FailureLine,
    run_dir.DOSSIER: FaultyLine,
    PLAN: Plan,
    run_dir.REPORT_JSON: Report,
}
_PLAIN = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    NoneType: "null",
    dict: "object",
    list: "array",
}


def run_schema() -> Schema:
    """One document: `#/properties/NAME` is the schema of the file of that name, or of its lines."""
    definitions: dict[str, Schema] = {}
    properties = {str(name): _schema(kind, definitions) for name, kind in FILES.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Files of a run directory, format {FORMAT}",
        "description": "Of a file whose name ends in .jsonl, the schema of each line. Other fields "
        "may be added.",
        "properties": properties,
        "$defs": dict(sorted(definitions.items())),
    }


def schema_text() -> str:
    """The document with a line for each file and each kind of record."""
    return "".join(_lines(run_schema()))


def _lines(schema: Schema) -> Iterator[str]:
    yield "{\n"
    for name, value in schema.items():
        end = "\n" if name == "$defs" else ",\n"
        if not isinstance(value, dict):
            yield f'"{name}": {json.dumps(value, ensure_ascii=False)}{end}'
            continue
        rows = (
            f"{json.dumps(key)}: {json.dumps(inner, ensure_ascii=False)}"
            for key, inner in value.items()
        )
        yield f'"{name}": {{\n' + ",\n".join(rows) + "\n}" + end
    yield "}\n"


def _schema(kind: Any, definitions: dict[str, Schema]) -> Schema:
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if is_typeddict(kind) or is_dataclass(kind):
        return _reference(kind, definitions)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [one.value for one in kind]}
    return _generic(kind, definitions)


def _generic(kind: Any, definitions: dict[str, Schema]) -> Schema:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(part, definitions) for part in parts]}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(parts[1], definitions)}
    if origin in (list, tuple):
        return {"type": "array", "items": _schema(parts[0], definitions)}
    if kind is Any:
        return {}
    raise TypeError(f"no JSON schema for {kind}")


def _reference(kind: Any, definitions: dict[str, Schema]) -> Schema:
    name = f"{kind.__module__.removeprefix('harness.')}.{kind.__name__}"
    if name not in definitions:
        definitions[name] = {}  # so that a type that holds itself ends
        hints = get_type_hints(kind)
        definitions[name] = _described(kind) | {
            "type": "object",
            "properties": {key: _schema(hint, definitions) for key, hint in hints.items()},
            "required": sorted(_required(kind)),
        }
    return {"$ref": f"#/$defs/{name}"}


def _required(kind: Any) -> set[str]:
    if is_typeddict(kind):
        return set(kind.__required_keys__)
    return {one.name for one in fields(kind) if one.default is MISSING}


def _described(kind: Any) -> Schema:
    return {"description": " ".join(kind.__doc__.split())} if kind.__doc__ else {}
