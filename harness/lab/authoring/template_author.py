"""An author without a model: everything comes from the ontology and the item's own draws, sessions
from templates.
"""

from random import Random

from harness.datasets.questions import ABSTENTION
from harness.lab.authoring.draft import Author, DraftQuestion, Turns
from harness.lab.authoring.plan import Attribute, Exchange, Ontology, PlannedQuestion

_LEADS = (
    "{statement} {asked}",
    "{statement} Anyway: {asked}",
    "{asked} {statement}",
    "{asked}\n\n{statement}",
    "Sorry, had to go for a moment. {statement} {asked}",
    "Okay, next one. {asked} And in case it matters: {statement}",
    "{statement}\n\nSo, what I came for: {asked}",
    "Right. {statement} But back to it: {asked}",
)
_PLAIN = ("{asked}", "{asked}", "Hi! {asked}", "One more: {asked}", "Hm, another thing. {asked}")
_THANKS: tuple[Exchange, ...] = (
    ("Thanks, that's what I needed.", "You're welcome. Come back whenever it gets stuck."),
    ("great, will try it tonight", "Good luck with it. Tell me how it went if you like."),
    ("Hm, not fully convinced, but thank you.", "Fair enough. Try the cheap half of it first."),
    ("Perfect. That's all for now!", "Glad to help. Have a good day."),
    ("ok thx", "Any time."),
)
# The share of sessions in which the user says thanks at the end.
_CLOSED = 0.4
_LISTED = ("Here you go:\n\n{list}", "With pleasure:\n\n{list}\n\nMore where those came from.")


def telling(ontology: Ontology, topic: str, statement: str, random: Random) -> Turns:
    """A session about a topic in one of whose user turns the statement stands word for word."""
    exchanges = random.sample(ontology.topics[topic], random.randint(1, 3))
    told = random.randrange(len(exchanges))
    turns: Turns = []
    for number, (asked, said) in enumerate(exchanges):
        if number == told:
            text = random.choice(_LEADS).format(statement=statement, asked=asked)
            turns.append({"role": "user", "content": text, "has_answer": True})
            turns.append({"role": "assistant", "content": said})
        else:
            turns += _exchange(random.choice(_PLAIN).format(asked=asked), said)
    return turns + _closing(random)


def listing(ontology: Ontology, attribute: Attribute, listed: str, random: Random) -> Turns:
    asked = random.choice(attribute.says).format(n=len(listed.splitlines()))
    turns: Turns = [
        {"role": "user", "content": asked},
        {
            "role": "assistant",
            "content": random.choice(_LISTED).format(list=listed),
            "has_answer": True,
        },
    ]
    before = random.sample(ontology.topics[attribute.topic], random.randint(0, 1))
    opening = [turn for exchange in before for turn in _exchange(*exchange)]
    return opening + turns + _closing(random)


def chatting(ontology: Ontology, topic: str, random: Random) -> Turns:
    exchanges = random.sample(ontology.topics[topic], random.randint(2, 3))
    turns = [turn for asked, said in exchanges for turn in _exchange(asked, said)]
    return turns + _closing(random)


def numbered(values: tuple[str, ...]) -> str:
    return "\n".join(f"{number}. {value}" for number, value in enumerate(values, start=1))


def without_labels(turns: Turns) -> Turns:
    """The same turns as evidence for nothing."""
    return [{"role": turn["role"], "content": turn["content"]} for turn in turns]


def _closing(random: Random) -> Turns:
    return _exchange(*random.choice(_THANKS)) if random.random() < _CLOSED else []


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
        random = item.draws(f"chat {number}")
        attribute = item.attributes[min(number, len(item.attributes) - 1)]
        if item.speaker == "assistant":
            return listing(self._ontology, attribute, statement, random)
        return telling(self._ontology, attribute.topic, statement, random)


def _told(item: PlannedQuestion) -> tuple[str, ...]:
    random, first = item.draws("statements"), item.attributes[0]
    match item.type:
        case "single-session-assistant":
            return (numbered(item.values),)
        case "temporal-reasoning":
            return tuple(random.choice(attribute.says) for attribute in item.attributes)
        case "knowledge-update":
            old, new = item.values
            return random.choice(first.says).format(v=old), first.now.format(v=new)
        case _:
            return tuple(random.choice(first.says).format(v=value) for value in item.values)


def _days_asked(item: PlannedQuestion) -> DraftQuestion:
    """Between two events, or since one."""
    days = [moment.date() for moment in item.dates]
    things = [attribute.thing for attribute in item.attributes]
    if len(things) == 1:
        passed = (item.asked.date() - days[0]).days
        question = f"How many days ago was it that {things[0]}?"
    else:
        passed = (days[1] - days[0]).days
        question = f"How many days lay between the day {things[0]} and the day {things[1]}?"
    counted = f"{passed + 1} days (including the last day) is also acceptable."
    return DraftQuestion(question, f"{passed} days. {counted}")
