"""The prompt that extracts facts from rounds of one session, and the reader of its reply."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assistant.dates import parse_days, print_day
from assistant.models.chat_model import Message
from assistant.models.structured import Shape
from assistant.prompts.fence import fenced_json
from assistant.prompts.prompt_file import Prompt, load_prompt
from memory_store import (
    Extraction,
    Fact,
    FactLink,
    Round,
    Speaker,
    as_stated,
)
from memory_store.language import ENGLISH, Language

PROMPT: Prompt = load_prompt("extract_facts")
# The beginning of a long reply tells what it is about; all of it can be found by its words.
_LONGEST_REPLY = 800
_LONGEST_FACT = 400
_MOST_FACTS = 40
_FACT_FORM = (
    '{"number": 7, "text": "…", "speaker": "user", "dates": ["2023-05-19"], '
    '"replaces": [{"number": 2, "part": ""}]}'
)
_KEYPHRASES = '- "keyphrases" are up to six words or phrases under which to look for the round.'
_SUMMARY = '- "summary" is one sentence that says what the round is about.'


@dataclass(frozen=True, slots=True)
class ExtractionWanted:
    """The model of an extraction, and what it is asked for besides facts."""

    model: str
    keyphrases: bool = False
    summaries: bool = False

    @property
    def extractor(self) -> str:
        """The name of what makes an extraction: another model, prompt or request has another."""
        more = "".join(("k" if self.keyphrases else "", "s" if self.summaries else ""))
        return "#".join(filter(None, (self.model, PROMPT.hash, more)))


def extraction_messages(
    rounds: Sequence[Round], known: Sequence[FactLink], wanted: ExtractionWanted
) -> list[Message]:
    """The instructions, and the session as JSON."""
    more = [_KEYPHRASES] * wanted.keyphrases + [_SUMMARY] * wanted.summaries
    fields = ['"round": 0', f'"facts": [{_FACT_FORM}]']
    fields += ['"keyphrases": ["…"]'] * wanted.keyphrases + ['"summary": "…"'] * wanted.summaries
    form = f'{{"rounds": [{{{", ".join(fields)}}}]}}'
    system = PROMPT.render(more="\n".join([*more, ""]), form=form)
    session = {
        "known": [
            {"number": number, "said": print_day(link.said_at), "fact": link.text}
            for number, link in enumerate(known, start=1)
        ],
        "rounds": [_round_body(number, round) for number, round in enumerate(rounds)],
    }
    return [Message("system", system), Message("user", fenced_json(session))]


def _round_body(number: int, round: Round) -> dict[str, Any]:
    reply = round.assistant_text
    if len(reply) > _LONGEST_REPLY:
        reply = reply[:_LONGEST_REPLY].rsplit(" ", 1)[0] + " […]"
    said_on = print_day(round.session_date)
    return {"round": number, "date": said_on, "user": round.user_text, "assistant": reply}


def extraction_shape(
    rounds: Sequence[Round],
    known: Sequence[FactLink],
    wanted: ExtractionWanted,
    language: Language = ENGLISH,
) -> Shape[list[Extraction]]:
    """The shape of the reply: one extraction for each round, in order. A fact may replace a known
    one, or one of an earlier round of the same reply."""

    def read(found: Mapping[str, Any]) -> list[Extraction]:
        by_round = {one.get("round"): one for one in _list_of(found, "rounds", dict)}
        if missing := [number for number in range(len(rounds)) if number not in by_round]:
            raise ValueError(f"round {missing[0]} is missing: give every round, with its facts")
        numbered = dict(enumerate(known, start=1))
        extractions: list[Extraction] = []
        for number, round in enumerate(rounds):
            reader = _FactReading(round, dict(numbered), wanted, language)
            extractions.append(reader.extraction(by_round[number]))
            numbered = {**reader.stated, **numbered}
        return extractions

    return Shape("extraction", _schema(wanted), read)


@dataclass(frozen=True, slots=True)
class _FactReading:
    """Reads what was found in one round. `numbered` are the facts that it may replace, `stated`
    those that it adds to them."""

    round: Round
    numbered: Mapping[int, FactLink]
    wanted: ExtractionWanted
    language: Language
    stated: dict[int, FactLink] = field(default_factory=dict)

    def extraction(self, found: Mapping[str, Any]) -> Extraction:
        facts = [self._fact(one) for one in _list_of(found, "facts", dict)]
        wanted = self.wanted
        phrases = _list_of(found, "keyphrases", str) if wanted.keyphrases else []
        summary = found.get("summary") if wanted.summaries else ""
        if not isinstance(summary, str):
            raise ValueError('"summary" must be text')
        kept = [fact for fact in facts if fact.text]
        return Extraction(wanted.extractor, tuple(kept[:_MOST_FACTS]), tuple(phrases[:6]), summary)

    def _fact(self, found: Mapping[str, Any]) -> Fact:
        text, speaker = found.get("text"), found.get("speaker", "user")
        if not isinstance(text, str) or speaker not in list(Speaker):
            raise ValueError('a fact needs a "text", and as "speaker" user, assistant or quoted')
        round = self.round
        dates = _list_of(found, "dates", str)
        fact = Fact(
            text=as_stated(" ".join(text.split())[:_LONGEST_FACT], round, self.language),
            speaker=Speaker(speaker),
            source=self.wanted.extractor,
            event_dates=tuple(parse_days(day, near=round.session_date) for day in dates),
            supersedes=tuple(dict.fromkeys(self._replaced(found))),
        )
        if isinstance(number := found.get("number"), int):
            self.stated[number] = FactLink(round.id, fact.text, round.session_date)
        return fact

    def _replaced(self, found: Mapping[str, Any]) -> Iterator[FactLink]:
        """The facts that a fact replaces; of one that states several things, the part that is
        named."""
        for one in _list_of(found, "replaces", (int, dict)):
            number, part = (
                (one.get("number"), one.get("part")) if isinstance(one, dict) else (one, "")
            )
            if not isinstance(number, int):
                raise ValueError('"replaces" needs the "number" of a fact, as in the form')
            if link := self.numbered.get(number):
                text = _as_written(part, link.text) if isinstance(part, str) else ""
                yield replace(link, text=text or link.text, by=self.wanted.extractor)


def _as_written(part: str, text: str) -> str:
    """The part as it stands in the text, whatever its case; "" where it does not."""
    found = re.search(re.escape(part.strip()), text, re.I)
    return found.group() if found else ""


def _list_of(found: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> list[Any]:
    values = found.get(name) or []
    if not isinstance(values, list) or not all(isinstance(value, kind) for value in values):
        raise ValueError(f'"{name}" must be a list, as in the form')
    return values


def _schema(wanted: ExtractionWanted) -> dict[str, Any]:
    """The form as a JSON schema; strict schemas want every property required and no others."""
    fact = _object(
        number={"type": "integer"},
        text={"type": "string"},
        speaker={"type": "string", "enum": [speaker.value for speaker in Speaker]},
        dates=_array({"type": "string"}),
        replaces=_array(_object(number={"type": "integer"}, part={"type": "string"})),
    )
    properties: dict[str, Any] = {"round": {"type": "integer"}, "facts": _array(fact)}
    if wanted.keyphrases:
        properties["keyphrases"] = _array({"type": "string"})
    if wanted.summaries:
        properties["summary"] = {"type": "string"}
    return _object(rounds=_array(_object(**properties)))


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}
