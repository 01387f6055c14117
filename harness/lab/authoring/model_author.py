"""An author that asks a language model: persona, question, evidence, self-chat, check.

If a reply cannot be used, the model is told why and asked again. After three such replies the item
is refused, and the reason is kept.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from harness.datasets.longmemeval import date_text
from harness.errors import JudgeCallFailed, UsageError
from harness.judges.openai_chat import ChatEndpoint, Messages, OpenAIChat
from harness.judges.rubrics import YES_NO, parse_verdict
from harness.lab.authoring.draft import Author, Draft, DraftQuestion, Refused, Turns, holds
from harness.lab.authoring.plan import PlannedQuestion
from harness.records.run_dir import LineFile, RunDir
from harness.report.table import Table
from harness.spending import (
    ANSWER_TOKENS,
    Budget,
    Forecast,
    Meter,
    Price,
    SpendingLimits,
    TokenUsage,
)
from harness.text import Prompt, load_prompts, tokens_at_least_one, tokens_of

_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_LONGEST = 4000


class Unusable(Exception):
    """A reply cannot be used; the exception's text tells the model why."""


def text_of(said: str) -> str:
    """The text without outer white space; raises `Unusable` if it is empty or too long."""
    text = said.strip()
    if not text or len(text) > _LONGEST:
        raise Unusable("it is empty" if not text else f"it is longer than {_LONGEST} characters")
    return text


def telling(statement: str) -> Callable[[str], str]:
    """A reader of replies that raises `Unusable` if the statement's words are not in the reply."""

    def read(said: str) -> str:
        text = text_of(said)
        if not holds(text, statement):
            raise Unusable(f"it does not say this in its words: {statement}")
        return text

    return read


def question_of(said: str) -> DraftQuestion:
    found = _json(said)
    question, answer = found.get("question"), found.get("answer")
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        answer = str(answer)
    if not isinstance(question, str) or not isinstance(answer, str):
        raise Unusable("question and answer must be texts")
    return DraftQuestion(text_of(question), text_of(answer))


def statements_of(said: str, wanted: int) -> tuple[str, ...]:
    """The statements of a reply; raises `Unusable` unless there are `wanted` of them."""
    found = _json(said).get("statements")
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise Unusable("statements must be a list of texts")
    if len(found) != wanted:
        raise Unusable(f"{len(found)} statements, {wanted} are wanted")
    return tuple(map(text_of, found))


def verdict_of(said: str) -> str:
    verdict = parse_verdict(said, YES_NO)
    if verdict is None:
        raise Unusable("say yes or no")
    return verdict


def _json(said: str) -> dict[str, Any]:
    match = _OBJECT.search(said)
    try:
        found = json.loads(match[0]) if match else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Unusable("it holds no JSON object")
    return found


CALLS = LineFile[dict[str, Any]]("calls.jsonl")


class KeptReplies:
    """Asks a model, unless the folder already keeps its reply to the same request."""

    def __init__(self, folder: RunDir, chat: OpenAIChat) -> None:
        self._folder = folder
        self._chat = chat
        self._calls = {line["call"]: line for line in folder.records(CALLS, "call")}
        chat.meter.before = self._spent()

    async def ask(self, step: str, item: str, attempt: int, messages: Messages) -> str:
        """The reply's text; raises what `OpenAIChat.ask` does."""
        asked = {"step": step, "item": item, "attempt": attempt, "messages": list(messages)}
        call = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:24]
        if call not in self._calls:
            reply = await self._chat.ask(messages)
            kept = asdict(reply)
            said = {"reply": kept.pop("text"), **kept}
            self._calls[call] = {"call": call, **asked, **said}
            self._folder.append(CALLS, self._calls[call])
        return str(self._calls[call]["reply"])

    def _spent(self) -> TokenUsage:
        total = TokenUsage()
        for line in self._calls.values():
            characters = sum(len(message["content"]) for message in line["messages"])
            prompt, completion = line["prompt_tokens"], line["completion_tokens"]
            told = prompt is not None and completion is not None
            total.add(
                TokenUsage(
                    calls=1,
                    estimated_calls=int(not told),
                    prompt_tokens=prompt or tokens_at_least_one(characters),
                    completion_tokens=completion or tokens_at_least_one(len(line["reply"])),
                )
            )
        return total


T = TypeVar("T")
_PACKAGE = "harness.lab.authoring.prompts"
_MODEL = re.compile(r"(?P<model>.+)@(?P<url>https?://.+)")
_THOUGHTS = re.compile(r"^.*</think>", re.DOTALL)
_ATTEMPTS = 3
_ROUNDS = (2, 3)
_ASSISTANT = "You are a helpful chat assistant. Answer in at most 120 words."


@dataclass(frozen=True, slots=True)
class AuthorModel:
    endpoint: ChatEndpoint
    price: Price | None = field(default=None)

    @classmethod
    def parse(cls, text: str, api_key: str | None, price: Price | None) -> "AuthorModel":
        """Read `MODEL@BASE_URL`; raises `UsageError`."""
        found = _MODEL.fullmatch(text)
        if found is None:
            raise UsageError(f"--model {text!r}: expected MODEL@BASE_URL")
        endpoint = ChatEndpoint(found["model"], found["url"], api_key, role="author")
        return cls(endpoint, price)

    @property
    def identity(self) -> dict[str, Any]:
        hashes = {name: prompt.hash for name, prompt in _prompts().items()}
        return {
            "model": self.endpoint.model,
            "base_url": self.endpoint.public_url,
            "prompts": hashes,
            "kinds": _kinds(),
        }


class ModelAuthor(Author):
    """Writes with a model; every call is kept in the folder and paid once."""

    def __init__(self, folder: RunDir, model: AuthorModel, limits: SpendingLimits) -> None:
        self._chat = OpenAIChat(model.endpoint, meter=Meter("author", model.price))
        self._replies = KeptReplies(folder, self._chat)
        Budget(limits, [self._chat.meter])

    async def persona(self, item: PlannedQuestion) -> str:
        prompt = _prompts()["persona"].render(theme=_theme(item))
        return await self._asked("persona", item, prompt, text_of)

    async def asked(self, item: PlannedQuestion, persona: str) -> DraftQuestion:
        prompt = _prompts()["question"].render(
            persona=persona, theme=_theme(item), kind=_kinds()[item.type], sessions=_sessions(item)
        )
        return await self._asked("question", item, prompt, question_of)

    async def statements(
        self, item: PlannedQuestion, persona: str, asked: DraftQuestion
    ) -> tuple[str, ...]:
        prompt = _prompts()["evidence"].render(
            persona=persona,
            kind=_kinds()[item.type],
            question=asked.question,
            answer=asked.answer,
            sessions=_sessions(item),
        )
        wanted = len(item.dates)
        return await self._asked("evidence", item, prompt, lambda said: statements_of(said, wanted))

    async def chat(self, item: PlannedQuestion, persona: str, statement: str, number: int) -> Turns:
        """A self-chat of two or three rounds; the statement is told in a round drawn in advance."""
        random = item.draws(f"chat {number}")
        rounds = random.choice(_ROUNDS)
        told = random.randrange(rounds)
        turns: Turns = []
        for place in range(rounds):
            for role in ("user", "assistant"):
                tells = place == told and role == item.speaker
                step = f"chat {number} {role} {place}"
                said = await self._turn(item, persona, statement if tells else "", turns, step)
                label = {"has_answer": True} if tells else {}
                turns.append({"role": role, "content": said, **label})
        return turns

    async def doubt(self, draft: Draft) -> str | None:
        told = [
            f"{date_text(moment)}, the {draft.item.speaker}: {draft.evidence_turn(number)}"
            for number, moment in enumerate(draft.item.dates)
        ]
        prompt = _prompts()["check"].render(
            question=draft.asked.question,
            asked=date_text(draft.item.asked),
            answer=draft.asked.answer,
            said="\n".join(told),
        )
        follows = await self._asked("check", draft.item, prompt, verdict_of)
        return None if follows == "yes" else "the model does not come to this answer"

    async def close(self) -> None:
        await self._chat.close()

    async def _turn(
        self, item: PlannedQuestion, persona: str, statement: str, turns: Turns, step: str
    ) -> str:
        read = telling(statement) if statement else text_of
        role = step.split()[2]
        if role == "assistant" and not statement:
            system = {"role": "system", "content": _ASSISTANT}
            said = [{"role": turn["role"], "content": turn["content"]} for turn in turns]
            return await self._read(step, item, [system, *said], read)
        conversation = "\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)
        values = {"conversation": conversation or "(empty)"}
        if role == "user":
            values |= {"persona": persona, "theme": _theme(item)}
        if statement:
            values["statement"] = statement
        name = "chat_answer" if role == "assistant" else "chat_tell" if statement else "chat_user"
        return await self._asked(step, item, _prompts()[name].render(**values), read)

    async def _asked(
        self, step: str, item: PlannedQuestion, prompt: str, read: Callable[[str], T]
    ) -> T:
        return await self._read(step, item, [{"role": "user", "content": prompt}], read)

    async def _read(
        self,
        step: str,
        item: PlannedQuestion,
        messages: Sequence[dict[str, str]],
        read: Callable[[str], T],
    ) -> T:
        """The first usable reply, as `read` reads it; raises `Refused` if no attempt gives one."""
        asked, problem = list(messages), ""
        for attempt in range(_ATTEMPTS):
            try:
                said = await self._replies.ask(step, item.item_id, attempt, asked)
            except JudgeCallFailed as failed:
                raise Refused(step, str(failed)) from failed
            try:
                return read(_THOUGHTS.sub("", said))
            except Unusable as unusable:
                problem = str(unusable)
            asked = [
                *messages,
                {"role": "assistant", "content": said},
                {"role": "user", "content": f"That cannot be used: {problem}. Please again."},
            ]
        raise Refused(step, f"{_ATTEMPTS} replies could not be used, the last one: {problem}")


def forecast(items: Sequence[PlannedQuestion], price: Price | None) -> Table:
    """An estimate of the calls, tokens and cost of these items, if every first reply is usable and
    none is kept yet."""
    made = Forecast()
    longest = max(len(prompt.text) for prompt in _prompts().values())
    for item in items:
        made.by_type[item.type] += 1
        chats = len(item.dates) * 2 * sum(_ROUNDS) // len(_ROUNDS)
        made.chat_calls += 4 + chats
        # A prompt also carries replies of earlier steps, about two.
        made.prompt_tokens += (4 + chats) * (tokens_of(longest) + 2 * ANSWER_TOKENS)
    usd = made.usd(price)
    rows = [
        ("questions", f"{made.questions:,}"),
        ("calls", f"{made.chat_calls:,}"),
        ("prompt tokens", f"{made.prompt_tokens:,}"),
        ("completion tokens", f"{made.completion_tokens:,}"),
        ("US dollars", "no price known" if usd is None else f"{usd:.2f}"),
    ]
    note = (
        f"Before the first call. Estimates: four characters a token, {ANSWER_TOKENS} tokens a "
        "reply; replies that were kept cost nothing again."
    )
    return Table("Forecast", ("what", "how much"), rows, note)


@cache
def _prompts() -> dict[str, Prompt]:
    return load_prompts(_PACKAGE)


@cache
def _kinds() -> dict[str, str]:
    text = files(_PACKAGE).joinpath("kinds.json").read_text(encoding="utf-8")
    kinds: dict[str, str] = json.loads(text)
    return kinds


def _theme(item: PlannedQuestion) -> str:
    """The item's attributes by name and category, and its topic; the model invents the values."""
    named = [f"{one.name.replace('_', ' ')} ({one.category})" for one in item.attributes]
    return f"{', '.join(named)}; the conversation is about {item.attributes[0].topic}"


def _sessions(item: PlannedQuestion) -> str:
    lines = [f"- {date_text(moment)}: told by the {item.speaker}" for moment in item.dates]
    return "\n".join([*lines, f"- {date_text(item.asked)}: the question is asked"])
