"""Who said something, where several people speak.

"I went to Paris" says nothing to a reader who cannot tell whose words these are.
"""

from collections.abc import Sequence

from memory_store import Recalled, Speaker, named_speakers, speakers_of, without_names


def several_speak(recalled: Sequence[Recalled]) -> bool:
    """Whether the user's sides are told by more than one name."""
    names = {name_of(one, Speaker.USER).casefold() for one in recalled}
    return len(names - {""}) > 1


def name_of(found: Recalled, speaker: Speaker) -> str:
    """The name told with this side of the round; empty where none was."""
    round = found.record.round
    name = round.assistant_name if speaker is Speaker.ASSISTANT else round.user_name
    return (name or "").strip()


def as_said(name: str, text: str) -> str:
    """The text with its speaker in front, where one is told."""
    return f"{name}: {text}" if name else text


def asked_of(question: str, recalled: Sequence[Recalled]) -> str:
    """What the question asks of the speakers it names, without their names: these stand in what
    the others say."""
    rounds = (one.record.round for one in recalled)
    told = (speakers_of(round.user_name, round.assistant_name) for round in rounds)
    return without_names(question, named_speakers(question, told))
