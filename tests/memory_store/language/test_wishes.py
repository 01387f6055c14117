"""What a message wants of the memory, and whether it answers a question whether to delete."""

import pytest

from memory_store.language import (
    confirms,
    confirms_deletion,
    declines,
    is_everything,
    still_holds,
    topic_of,
    wishes_of,
    without_lead,
)

SURE = 0.5

YES = [
    *("yes", "Yes.", "YES!", "yes please", "yep", "yeah", "y", "yes yes", "yes\n"),
    *("ok", "OK.", "okay", "ok do it", "sure", "sure go ahead", "Sure, go ahead.", "go ahead"),
    *("do it", "please do", "of course", "confirm", "confirmed", "correct", "👍", "✅"),
    *("yes, delete", "yes delete it", "Yes, forget them all", "delete it", "delete them please"),
    *("ja", "Ja, bitte", "ja, löschen", "klar", "okay, lösch das", "ja gerne"),
    *("sí", "si", "Sí, bórralo", "vale", "claro", "sí por favor"),
    *("oui", "Oui, supprime", "d'accord", "D’accord", "oui s'il te plaît"),
    *("sim", "sim, apaga"),
    *(
        "是",
        "是的",
        "好",
        "好的",
        "可以",
        "确认",
        "删吧",
        "是的，删除",
        "好的，删除",
        "好的，请删掉",
    ),
]
DELETION = [
    *("yes, delete", "yes delete it", "Yes, forget them all", "delete it", "ja, löschen"),
    *("Sí, bórralo", "Oui, supprime", "sim, apaga", "删吧", "好的，删除"),
]
NO_YES = [
    *("", " ", "?", "yes?", "forget it", "Forget it.", "forget that", "drop it", "thanks", "good"),
    *("right", "all of them", "that one", "go", "please", "not sure", "i am not sure", "why?"),
    *("I said yes to the job", "yes I got the job", "yes, my rent is 900", "ok what is my rent"),
    *("ok so I moved to Ghent", "yes but keep the tea", "He said yes", "Where do I live?"),
    *("yes\n\nI moved to Ghent.", "ok ok ok ok ok ok ok ok ok", "“yes”", "> yes", '"yes, delete"'),
    *("it is clear", "ja?", "ja, aber nicht alles", "nicht löschen", "no lo borres"),
    *("ne le supprime pas", "oui mais pas tout", "别删", "不", "不是", "不可以", "不要删除"),
]
NO = [
    *("no", "No.", "nope", "nah", "no thanks", "never mind", "nevermind", "cancel", "stop", "wait"),
    *("don't", "Don’t delete", "keep it", "no, keep it", "leave them", "no, delete it"),
    *("nein", "nein danke", "nicht löschen", "non", "no gracias", "不要"),
]


@pytest.mark.parametrize("text", YES)
def test_a_natural_yes_confirms(text: str) -> None:
    assert confirms(text)
    assert not declines(text)


@pytest.mark.parametrize("text", [*NO_YES, *NO])
def test_anything_else_confirms_nothing(text: str) -> None:
    assert not confirms(text)
    assert not confirms_deletion(text)


@pytest.mark.parametrize("text", DELETION)
def test_a_yes_may_say_to_what(text: str) -> None:
    assert confirms_deletion(text)


@pytest.mark.parametrize("text", ["yes", "ok", "sure go ahead", "ja", "claro", "oui", "可以"])
def test_a_mere_yes_does_not_say_to_what(text: str) -> None:
    assert not confirms_deletion(text)


@pytest.mark.parametrize("text", NO)
def test_a_natural_no_declines(text: str) -> None:
    assert declines(text)


@pytest.mark.parametrize(
    "text", ["", "yes", "ok", "I have no car.", "no, my rent is 900", "Where do I live?", "hi"]
)
def test_what_is_no_answer_declines_nothing(text: str) -> None:
    assert not declines(text)


REFUSED = [
    "my pin is 4471, dont save it",
    "my pin is 4471 pls dont keep that anywhere",
    "off the record, I hate my boss",
    "this stays between us: I failed the exam",
    "remember: my pin is 4471, dont save it",
    "remember that this is off the record: I failed",
    "Nicht speichern: meine Pin ist 9021",
    "merk dir das nicht: ich war heute beim Psychologen",
    "no lo guardes, mi pin es 3310",
    "n'enregistre pas ceci, je suis enceinte",
    "à ne pas mémoriser : carte 4970 1012 3456 7890",
    "别保存，我的银行卡密码是1357",
]
KEPT = [
    "remember this: I moved to Ghent",
    "remember: I moved to Ghent",
    "Remember: my pin is 4471",
    "please remember that I live in Ghent",
    "don't forget I moved to Porto",
    "Don’t forget the milk tomorrow",
    "keep in mind that I hate fish",
    "make a note: rent is due Friday",
    "Merk dir bitte: ich wohne in Bonn",
    "vergiss nicht, ich wohne in Bonn",
    "recuerda que vivo en Bonn",
    "no olvides que vivo en Bonn",
    "retiens que j'habite à Bonn",
    "n'oublie pas que j'habite à Bonn",
    "记住，我住在波恩",
    "别忘了我住在波恩",
]
FORGOTTEN = [
    *("forget that", "Forget that.", "forget it", "delete that", "forget everything"),
    *("delete everything about my ex", "please forget my pen name", "scratch that last thing"),
    *("vergiss das", "lösch alles über meine Miete", "olvida eso", "oublie ça", "忘掉我刚才说的话"),
]
NOTHING = [
    *("", " ", "I live in Ghent.", "Where do I live?", "hi", "I remember the sea."),
    *("what did I say off the record?", "did i tell you anything off the record"),
    *("My boss never writes things down.", "I don't remember where I parked."),
    *("She said “don't save it”.", "> forget that", "“forget that”"),
    *("My aunt wrote: “delete everything about my rent”.", "I never keep a diary."),
    *("How do I delete a branch in git?", "do not forget that I hate fish"),
    *("I sang.", "I ran.", "Meine Katze heißt jetzt Nori.", "What colour is my bicycle?"),
    *(
        "Our neighbour found the garden fence this morning.",
        "I now keep bees in the nearby garden.",
    ),
    "Sum up what we decided",
    "Please proofread this letter:\n\nMy dentist is now Dr Peeters in Ghent.",
]


@pytest.mark.parametrize("text", REFUSED)
def test_a_refusal(text: str) -> None:
    assert wishes_of(text).refuses >= SURE


@pytest.mark.parametrize("text", KEPT)
def test_a_wish_to_keep_refuses_and_forgets_nothing(text: str) -> None:
    wishes = wishes_of(text)
    assert wishes.keeps >= SURE
    assert max(wishes.refuses, wishes.forgets) < SURE


@pytest.mark.parametrize("text", FORGOTTEN)
def test_a_wish_to_forget(text: str) -> None:
    wishes = wishes_of(text)
    assert wishes.forgets >= SURE
    assert wishes.keeps < wishes.forgets


@pytest.mark.parametrize("text", NOTHING)
def test_other_messages_wish_for_nothing_to_be_lost(text: str) -> None:
    wishes = wishes_of(text)
    assert max(wishes.refuses, wishes.forgets) < SURE


def test_a_long_message_asks_for_nothing_to_be_forgotten() -> None:
    assert wishes_of(f"forget that. {'I like tea. ' * 30}").forgets == 0.0


@pytest.mark.parametrize("filler", ["I like tea. ", "x", "\n", ", "])
def test_a_refusal_stands_at_either_end_of_a_long_message(filler: str) -> None:
    long = filler * 20_000
    refusal = "don't save this"
    assert wishes_of(f"{refusal}. {long}").refuses >= SURE
    assert wishes_of(f"{long}. {refusal}").refuses >= SURE


@pytest.mark.parametrize(
    ("request_", "topic"),
    [
        ("forget that", ""),
        ("delete my last message", ""),
        ("scratch that last thing", ""),
        ("delete everything", ""),
        ("delete everything about my ex", "ex"),
        ("please forget my pen name", "pen name"),
        ("delete what i said about the rent", "rent"),
        ("lösch alles über meine Miete", "miete"),
        ("vergiss was ich gerade gesagt habe", ""),
        ("olvida lo que acabo de decir", ""),
        ("oublie ce que je viens de dire", ""),
        ("忘掉我刚才说的话", ""),
    ],
)
def test_the_topic_is_what_is_left_of_a_request(request_: str, topic: str) -> None:
    assert topic_of(request_) == topic


@pytest.mark.parametrize(
    ("request_", "everything"),
    [
        ("forget everything", True),
        ("delete all of my data", True),
        ("lösche alles", True),
        ("borra todo", True),
        ("efface tout", True),
        ("删除所有", True),
        ("forget that", False),
        ("forget all that", False),
        ("delete my last message", False),
    ],
)
def test_everything_is_meant(request_: str, everything: bool) -> None:
    assert is_everything(request_) is everything


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("remember this: I moved to Ghent", "I moved to Ghent"),
        ("Keep this local: my code is 4417", "my code is 4417"),
        ("don't forget: Ben's birthday", "Ben's birthday"),
        ("dentist: Arvo Lind", "dentist: Arvo Lind"),
        ("Ben wrote: remember the milk", "Ben wrote: remember the milk"),
        ("remember this: ", "remember this: "),
        ("Remember what I told you last week: it rained", None),
    ],
)
def test_what_is_to_be_kept_stands_behind_the_wish(text: str, rest: str | None) -> None:
    assert without_lead(text) == (rest or text)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        *((yes, True) for yes in ("yes", "Yep, still does.", "yes it does", "still true", "ja")),
        *((no, False) for no in ("no", "Nope, not any more", "not any longer", "nein", "不")),
        *((else_, None) for else_ in ("delete it", "yes?", "no idea", "keep", "yes, in Ghent", "")),
    ],
)
def test_a_plain_yes_or_no_says_whether_it_still_holds(text: str, holds: bool | None) -> None:
    assert still_holds(text) is holds


def test_one_word_alone_refuses_nothing() -> None:
    """The model of kinds takes "notes" for a refusal."""
    text = "Please proofread this:\n\nnotes.txt:\nBuy milk and eggs. Call Ben."
    assert wishes_of(text).refuses < SURE / 2
