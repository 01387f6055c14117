"""The language model's reader: Chain-of-Note over dated JSON, in one call (LongMemEval §5.5).

The model first notes what each recalled round contributes, then answers from its notes. Only the
answer leaves; the notes go to the trace.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from assistant.dates import print_day
from assistant.errors import BadModelReply
from assistant.models.chat_model import ChatModel, Message, Piece, TokenCounts
from assistant.prompts.prompt_file import Prompt, load_prompt
from assistant.reading.context import Context, build_context
from assistant.reading.notes import MARKER, NotesFilter
from assistant.reading.reader import AnswerPiece, Question, Trace

PROMPT: Prompt = load_prompt("chain_of_note")


class ChainOfNoteReader:
    """Reads with a language model; without recalled rounds the conversation passes through."""

    def __init__(self, model: ChatModel, *, context_tokens: int) -> None:
        self._model = model
        self._context_tokens = context_tokens
        self.name = f"chain-of-note:{model.name}"

    async def read(self, question: Question) -> AsyncGenerator[AnswerPiece, None]:
        """See `Reader.read`. Raises the model's errors, `BadModelReply` for an empty answer."""
        if question.recalled is None:
            messages, context, notes = _plain(question), Context("", (), ()), None
        else:
            context = build_context(question.recalled, question.asked_at, self._context_tokens)
            messages, notes = _with_memory(question, context), NotesFilter()
        last = _Last()
        answered = False
        async with aclosing(self._model.stream(messages, question.options)) as pieces:
            async for piece in pieces:
                last.see(piece)
                text = notes.feed(piece.text) if notes else piece.text
                answered |= bool(text.strip())
                if text:
                    yield AnswerPiece(text)
        rest = notes.finish(cut=last.finish_reason == "length") if notes else ""
        if not (answered or rest):
            raise BadModelReply(
                f"the chat model {self._model.name} gave no answer "
                f"(its reply ended with {last.finish_reason!r})"
            )
        trace = Trace(
            notes=notes.notes if notes else "",
            context=context.used,
            dropped=context.dropped,
            tokens=last.tokens,
            finish_reason=last.finish_reason,
        )
        yield AnswerPiece(rest, trace)


class _Last:
    """What the pieces of a reply said about it as a whole."""

    def __init__(self) -> None:
        self.tokens: TokenCounts | None = None
        self.finish_reason = "stop"

    def see(self, piece: Piece) -> None:
        self.tokens = piece.tokens or self.tokens
        self.finish_reason = piece.finish_reason or self.finish_reason


def _plain(question: Question) -> list[Message]:
    return [*question.conversation, Message("user", question.text)]


def _with_memory(question: Question, context: Context) -> list[Message]:
    """The caller's own system text first, then ours; the rest of the conversation as it was."""
    ours = PROMPT.render(today=print_day(question.asked_at), memory=context.text, marker=MARKER)
    theirs = [m.content for m in question.conversation if m.role == "system"]
    earlier = [m for m in question.conversation if m.role != "system"]
    system = Message("system", "\n\n".join([*theirs, ours]))
    return [system, *earlier, Message("user", question.text)]
