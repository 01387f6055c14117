"""Sessions by templates: what is asked about a topic, and a statement mentioned in passing."""

from random import Random

from harness.authoring.draft import Turns
from harness.authoring.ontology import Attribute, Exchange, Ontology

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
    """A session in which the assistant gives a list."""
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
    """A session about a topic in which nobody tells anything."""
    exchanges = random.sample(ontology.topics[topic], random.randint(2, 3))
    turns = [turn for asked, said in exchanges for turn in _exchange(asked, said)]
    return turns + _closing(random)


def numbered(values: tuple[str, ...]) -> str:
    """A list as assistants write it."""
    return "\n".join(f"{number}. {value}" for number, value in enumerate(values, start=1))


def without_labels(turns: Turns) -> Turns:
    """The same turns as evidence for nothing."""
    return [{"role": turn["role"], "content": turn["content"]} for turn in turns]


def _closing(random: Random) -> Turns:
    return _exchange(*random.choice(_THANKS)) if random.random() < _CLOSED else []


def _exchange(asked: str, said: str) -> Turns:
    return [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]
