"""An author without a model: everything comes from the ontology and the item's own draws."""

from harness.authoring.draft import Draft, DraftQuestion, Turns
from harness.authoring.ontology import Ontology
from harness.authoring.plan import PlannedQuestion
from harness.authoring.template_sessions import listing, numbered, telling
from harness.datasets.questions import ABSTENTION

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


class TemplateAuthor:
    """Writes the same text for the same item every time, and costs nothing."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology

    async def persona(self, item: PlannedQuestion) -> str:
        """Name, place and manner, and the fields of life that will come up."""
        random = item.draws("persona")
        fields = " and ".join(dict.fromkeys(one.category for one in item.attributes))
        return (
            f"{random.choice(_NAMES)}, {random.randint(21, 74)}, lives in {random.choice(_TOWNS)}, "
            f"{random.choice(_TEMPERS)}, and talks about {fields} before anything else."
        )

    async def asked(self, item: PlannedQuestion, persona: str) -> DraftQuestion:
        """By the rule of the item's type."""
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
        """The attribute's own wordings; a list of advice is told as a whole."""
        return _told(item)

    async def chat(self, item: PlannedQuestion, persona: str, statement: str, number: int) -> Turns:
        """A session about the attribute's topic."""
        random = item.draws(f"chat {number}")
        attribute = item.attributes[min(number, len(item.attributes) - 1)]
        if item.speaker == "assistant":
            return listing(self._ontology, attribute, statement, random)
        return telling(self._ontology, attribute.topic, statement, random)

    async def doubt(self, draft: Draft) -> str | None:
        """None: there is nobody to ask."""
        return None

    async def close(self) -> None:
        """Nothing is open."""


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
