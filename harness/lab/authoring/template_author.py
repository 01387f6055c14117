"""An author without a model: it writes from the ontology, templates and the item's own draws. Facts
about the user are told in passing, inside a task that has nothing to do with them.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from random import Random

from harness.datasets.questions import ABSTENTION
from harness.lab.authoring.draft import Author, DraftQuestion, Turns
from harness.lab.authoring.plan import Attribute, Exchange, Ontology, PlannedQuestion, When

# `{aside}` is a phrase that leads over to the statement.
_TASKS = (
    "{asked} {aside} {statement}",
    "{asked}\n\n{aside} {statement}",
    "{aside} {statement}\n\n{asked}",
    "{statement} {asked}",
    "{asked} {statement}",
)
# The shares of sessions that begin with some words before the task, and that end with thanks.
_OPENED, _CLOSED = 0.7, 0.4
_LISTED = ("Here you go:\n\n{list}", "With pleasure:\n\n{list}\n\nMore where those came from.")


class Unsaid:
    """Draws from the ontology what one history has not said yet. Once all phrases of a kind are
    used up, they may come again. `told` are the texts of the history so far.
    """

    def __init__(self, ontology: Ontology, random: Random, told: Iterable[str] = ()) -> None:
        self.random = random
        self._ontology = ontology
        text = "\n".join(told)
        closings = [asked for asked, _ in ontology.closings]
        asked = [asked for found in ontology.topics.values() for asked, _ in found]
        drawn = (*ontology.openings, *ontology.asides, *closings, *asked)
        self._said = {phrase for phrase in drawn if phrase in text}

    def opening(self) -> str:
        """Some words before a task, or none."""
        if self.random.random() >= _OPENED:
            return ""
        return self._draw(self._ontology.openings) + " "

    def aside(self) -> str:
        return self._draw(self._ontology.asides)

    def closing(self) -> Turns:
        """Thanks and a reply to them, or nothing."""
        if self.random.random() >= _CLOSED:
            return []
        closings = dict(self._ontology.closings)
        asked = self._draw(tuple(closings))
        return _exchange(asked, closings[asked])

    def exchanges(self, most: int, besides: str = "") -> list[Exchange]:
        """At most this many exchanges about one topic, fewer if no topic has so many left. The
        topic `besides` is left out."""
        topics = {name: found for name, found in self._ontology.topics.items() if name != besides}
        left = {
            name: [one for one in found if one[0] not in self._said]
            for name, found in topics.items()
        }
        count = min(most, max(map(len, left.values())))
        if not count:
            self._said -= {asked for found in topics.values() for asked, _ in found}
            return self.exchanges(most, besides)
        topic = self.random.choice([name for name in left if len(left[name]) >= count])
        drawn = self.random.sample(left[topic], count)
        self._said |= {asked for asked, _ in drawn}
        return drawn

    def _draw(self, phrases: Sequence[str]) -> str:
        left = [phrase for phrase in phrases if phrase not in self._said]
        if not left:
            self._said -= set(phrases)
            left = list(phrases)
        drawn = self.random.choice(left)
        self._said.add(drawn)
        return drawn


def telling(unsaid: Unsaid, topic: str, statement: str) -> Turns:
    """A session about another topic than `topic`; one of its user turns holds the statement word
    for word.
    """
    random = unsaid.random
    exchanges = unsaid.exchanges(random.randint(1, 3), besides=topic)
    told = random.randrange(len(exchanges))
    turns: Turns = []
    for number, (asked, said) in enumerate(exchanges):
        text = asked
        if number == told:
            task = random.choice(_TASKS)
            aside = unsaid.aside() if "{aside}" in task else ""
            text = task.format(asked=asked, aside=aside, statement=statement)
        turns += _exchange(text, said)
    turns[2 * told]["has_answer"] = True
    return _opened(unsaid, turns) + unsaid.closing()


def listing(unsaid: Unsaid, attribute: Attribute, listed: str) -> Turns:
    random = unsaid.random
    asked = random.choice(attribute.says).format(n=len(listed.splitlines()))
    turns = _exchange(asked, random.choice(_LISTED).format(list=listed))
    turns[1]["has_answer"] = True
    if random.random() < 0.5:
        before = [turn for exchange in unsaid.exchanges(1) for turn in _exchange(*exchange)]
        turns = before + turns
    return _opened(unsaid, turns) + unsaid.closing()


def chatting(unsaid: Unsaid) -> Turns:
    exchanges = unsaid.exchanges(unsaid.random.randint(2, 3))
    turns = [turn for asked, said in exchanges for turn in _exchange(asked, said)]
    return _opened(unsaid, turns) + unsaid.closing()


def stated(attribute: Attribute, value: str, when: When, told: date, random: Random) -> str:
    """The statement that tells an attribute's value; for an event, with its day in words that fit
    the day of telling."""
    said = random.choice(attribute.says)
    if attribute.kind != "event":
        return said.format(v=value)
    named = said.format(
        when=_WORDED[when.kind](when.days, told - timedelta(days=when.days), random)
    )
    return named[0].upper() + named[1:]


_NUMBERS = ("no", "a", "two", "three", "four", "five", "six")
_WORDED: dict[str, Callable[[int, date, Random], str]] = {
    "today": lambda days, day, random: random.choice(("today", "earlier today", "this very day")),
    "yesterday": lambda days, day, random: random.choice(("yesterday", "only yesterday")),
    "days ago": lambda days, day, random: f"{_NUMBERS[days]} days ago",
    "weekday": lambda days, day, random: f"{random.choice(('on', 'this past'))} {day:%A}",
    "date": lambda days, day, random: random.choice(
        (f"on {day.day} {day:%B}", f"on {day:%B} {day.day}")
    ),
    "weeks ago": lambda days, day, random: (
        f"{_NUMBERS[days // 7]} week{'s' if days > 7 else ''} ago to the day"
    ),
}


def numbered(values: tuple[str, ...]) -> str:
    return "\n".join(f"{number}. {value}" for number, value in enumerate(values, start=1))


def without_labels(turns: Turns) -> Turns:
    """The turns without their evidence labels."""
    return [{"role": turn["role"], "content": turn["content"]} for turn in turns]


def _opened(unsaid: Unsaid, turns: Turns) -> Turns:
    turns[0]["content"] = unsaid.opening() + turns[0]["content"]
    return turns


def _exchange(asked: str, said: str) -> Turns:
    return [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]


_NAMES = (
    "Maren",
    "Idris",
    "Coralie",
    "Anton",
    "Sunniva",
    "Bilal",
    "Greta",
    "Mateo",
    "Wanda",
    "Kit",
)
_TOWNS = (
    "a harbour town",
    "the edge of a big city",
    "a village with one bus",
    "a valley",
    "a suburb",
)
_TEMPERS = ("asks a lot", "writes as it comes to mind", "plans everything", "hates phone calls")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_NOT_TOLD = "You did not mention this information. You only mentioned this: {told}"


class TemplateAuthor(Author):
    """Writes the same text for the same item every time, and costs nothing."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology

    async def persona(self, item: PlannedQuestion) -> str:
        random = item.draws("persona")
        fields = " and ".join(dict.fromkeys(one.category for one in item.attributes))
        return (
            f"{random.choice(_NAMES)}, {random.randint(21, 74)}, lives in {random.choice(_TOWNS)}, "
            f"{random.choice(_TEMPERS)}, and talks about {fields} before anything else."
        )

    async def asked(self, item: PlannedQuestion, persona: str) -> DraftQuestion:
        attribute = item.attributes[0]
        match item.type:
            case "single-session-assistant":
                which = f"Which one was {_ORDINALS[item.place]} on your list?"
                return DraftQuestion(f"{attribute.asks} {which}", item.values[item.place])
            case "single-session-preference":
                wants = attribute.wants.format(v=item.values[0])
                return DraftQuestion(
                    attribute.asks,
                    f"The user would prefer suggestions that {wants}. They would not care for "
                    "suggestions that leave this out.",
                )
            case "multi-session":
                return DraftQuestion(attribute.asks, str(len(item.values)))
            case "temporal-reasoning":
                return _days_asked(item)
            case _ if item.type == ABSTENTION:
                told = _told(item)[0]
                return DraftQuestion(attribute.absent, _NOT_TOLD.format(told=told))
            case _:
                return DraftQuestion(attribute.asks, item.values[-1])

    async def statements(
        self, item: PlannedQuestion, persona: str, asked: DraftQuestion
    ) -> tuple[str, ...]:
        return _told(item)

    async def chat(self, item: PlannedQuestion, persona: str, statement: str, number: int) -> Turns:
        """Write a session. The earlier ones are drawn again first, so that it repeats none."""
        unsaid = Unsaid(self._ontology, item.draws("chats"))
        for earlier, told in enumerate(_told(item)[:number]):
            self._chat(item, unsaid, told, earlier)
        return self._chat(item, unsaid, statement, number)

    def _chat(self, item: PlannedQuestion, unsaid: Unsaid, statement: str, number: int) -> Turns:
        attribute = item.attributes[min(number, len(item.attributes) - 1)]
        if item.speaker == "assistant":
            return listing(unsaid, attribute, statement)
        return telling(unsaid, attribute.topic, statement)


def _told(item: PlannedQuestion) -> tuple[str, ...]:
    random, first = item.draws("statements"), item.attributes[0]
    match item.type:
        case "single-session-assistant":
            return (numbered(item.values),)
        case "temporal-reasoning":
            events = zip(item.attributes, item.whens, item.dates, strict=True)
            return tuple(
                stated(attribute, "", when, moment.date(), random)
                for attribute, when, moment in events
            )
        case "knowledge-update":
            old, new = item.values
            return random.choice(first.says).format(v=old), first.now.format(v=new)
        case _:
            # Each part of a count is told in different words.
            said = random.sample(first.says, len(item.values))
            pairs = zip(said, item.values, strict=True)
            return tuple(words.format(v=value) for words, value in pairs)


def _days_asked(item: PlannedQuestion) -> DraftQuestion:
    """The question for the days between two events, or since a single event."""
    days = item.days
    things = [attribute.thing for attribute in item.attributes]
    if len(things) == 1:
        passed = (item.asked.date() - days[0]).days
        question = f"How many days ago was it that {things[0]}?"
    else:
        passed = abs((days[1] - days[0]).days)
        question = f"How many days lay between the day {things[0]} and the day {things[1]}?"
    counted = f"{passed + 1} days (including the last day) is also acceptable."
    return DraftQuestion(question, f"{passed} days. {counted}")
