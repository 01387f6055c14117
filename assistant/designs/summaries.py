"""Summaries: by the extraction model where there is one, else of the most telling sentences."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from assistant.errors import AssistantError
from assistant.models.chat_model import Message
from assistant.models.gateway import Gateway
from assistant.prompts.prompt_file import Prompt, load_prompt
from memory_store import Record
from memory_store.language import Language, Rarity, telling_sentences
from memory_store.scheduler import aside

PROMPT: Prompt = load_prompt("summarise_texts")
_SENTENCES = 4
# A model is given at most this much to read; the rest of a text would add nothing to its summary.
_MOST_CHARACTERS = 24_000
_READ_FAST = 16


@dataclass(frozen=True, slots=True)
class Summariser:
    """Makes summaries; `made` counts them by what made them."""

    language: Language
    model: Gateway | None = None
    made: Counter[str] = field(default_factory=Counter)

    async def of_rounds(self, records: Sequence[Record], rarity: Rarity) -> str:
        """A summary of rounds: their stored summaries if all have one, else of what was said."""
        kept = [record.summary for record in records if record.summary]
        if len(kept) == len(records):
            self.made["extract_model"] += 1
            return "\n".join(kept)
        sides = ((record.round.user_text, record.round.assistant_text) for record in records)
        return await self.of_texts([text for both in sides for text in both if text], rarity)

    async def of_texts(self, texts: Sequence[str], rarity: Rarity) -> str:
        """A few sentences that say what the texts are about."""
        if self.model is not None:
            return await self._by_model(self.model, "\n\n".join(texts), rarity)
        return await self._extracted(texts, rarity)

    async def _by_model(self, model: Gateway, text: str, rarity: Rarity) -> str:
        asked = [Message("system", PROMPT.render()), Message("user", text[:_MOST_CHARACTERS])]
        try:
            reply = await model.complete(asked, {"temperature": 0.0})
        except AssistantError:
            self.made["failed"] += 1
            return await self._extracted([text], rarity)
        self.made[model.name] += 1
        return reply.text.strip()

    async def _extracted(self, texts: Sequence[str], rarity: Rarity) -> str:
        self.made["sentences"] += 1

        def extract() -> str:
            sentences = [one for text in texts for one in self.language.sentences(text)]
            return " ".join(telling_sentences(sentences, rarity, _SENTENCES))

        return await aside(sum(map(len, texts)) // _READ_FAST, extract)
