"""The rules that decide whether an answer is right."""

from datetime import date

import pytest

from harness.lab.lifecycle.checks import DayCount, Expected, Number, On, faults

MOVED = Expected(must=(("Lyon",),), former=("Bruges",))
IN_MARCH = Expected(must=(("Ghent",),), later=("Utrecht",))
GONE = Expected(must_not=("Dr Marsh",))
UNKNOWN = Expected(admit=True)
TRAMS = Expected(must=(("three trams", "3 trams"), ("Porto",)))
BORN = Expected(must=((On(date(2024, 3, 13)),),))
AGO = Expected(must=((DayCount(35),),))
CONCERTS = Expected(must=((Number(3),),))

RIGHT = [
    (MOVED, "Lyon."),
    (MOVED, "You live in LYON now. Before that, you lived in Bruges."),
    (
        MOVED,
        "On 2024-05-12 you said: “We moved to Lyon.”\n- “I live in Bruges. I like it.” (no longer)",
    ),
    (MOVED, "**Lyon** – Bruges was home until May."),
    (MOVED, "You lived in Bruges and now live in Lyon."),
    (MOVED, "You now live in Lyon. You lived in Bruges."),
    (MOVED, "Your current city is Lyon, and in February you told me you lived in Bruges."),
    (MOVED, "In February Bruges; since May it has been Lyon."),
    (MOVED, "You said: “We moved from Bruges to Lyon.”"),
    (MOVED, "You said: “Goodbye Bruges. Hello Lyon!”"),
    (MOVED, "On 2024-05-12 you said “We moved to Lyon”.\nOn 2024-02-03: “I live in Bruges.”"),
    (MOVED, "May 12, 2024: off to Lyon. 3 February 2024: I live in Bruges."),
    (MOVED, "From our chat I do not see Bruges any more, but Lyon."),
    (IN_MARCH, "In March you lived in Ghent; you moved to Utrecht later."),
    (IN_MARCH, "You lived in Ghent at the time. You live in Utrecht."),
    (GONE, "I have no therapist's name on record."),
    (UNKNOWN, "You haven't told me that."),
    (UNKNOWN, "I don't know. The closest that I find: you said “I can't find the hotel”."),
    (UNKNOWN, "On that day you had not told me its name."),
    (UNKNOWN, "Nothing. You told me about a dog on 3 May."),
    (UNKNOWN, "About its breed I know nothing."),
    (TRAMS, "You took 3 trams in Porto!"),
    (BORN, "They were born on March 13th."),
    (BORN, "On 13/03/2024."),
    (BORN, "2024-03-13, a Wednesday"),
    (BORN, "2024-03-13T10:00"),
    (AGO, "That was five weeks ago."),
    (AGO, "35 days"),
    (CONCERTS, "Three: on 2 May, 3 June and 8 July."),
    (CONCERTS, "1. Foxes\n2. Pines\n\nWith the one in June that makes 3 concerts."),
]
WRONG = [
    (MOVED, "", "the answer is empty"),
    (MOVED, "You live in Bruges.", "missing: Lyon"),
    (MOVED, "Bruges, or Lyon.", "named without a word that it was former: Bruges"),
    (MOVED, "Lyon. Also, you live in Bruges.", "named without a word that it was former: Bruges"),
    (MOVED, "You now live in Bruges, or Lyon.", "named without a word that it was former: Bruges"),
    (MOVED, "These days Bruges and Lyon.", "named without a word that it was former: Bruges"),
    (
        MOVED,
        "You said “Goodbye Bruges, hello Lyon”.\nYou said: “I live in Bruges.”",
        "named without a word that it was former: Bruges",
    ),
    (
        MOVED,
        "You said “I live in Bruges.” and “Lyon is home now.”",
        "named without a word that it was former: Bruges",
    ),
    (
        MOVED,
        "On 2024-02-03 you said “I live in Bruges.”\nOn 2024-05-12: “We moved to Lyon”.",
        "named without a word that it was former: Bruges",
    ),
    (
        MOVED,
        "On 2024-05-12 you said “We moved to Lyon”.\nOn 2024-05-12: “I live in Bruges.”",
        "named without a word that it was former: Bruges",
    ),
    (MOVED, "I don't know. You said “We moved to Lyon”.", "begins by saying that it does not know"),
    (IN_MARCH, "Ghent or Utrecht.", "named without a word that it was later: Utrecht"),
    (GONE, "As you asked, I forgot that you see dr. marsh.", "must not be there: Dr Marsh"),
    (UNKNOWN, "A spaniel.", "does not say that it does not know"),
    (UNKNOWN, "A spaniel, nothing special.", "does not say that it does not know"),
    (UNKNOWN, "A spaniel who has not been ill.", "does not say that it does not know"),
    (UNKNOWN, "You said: “I don't know the breed”.", "does not say that it does not know"),
    (TRAMS, "Three trams.", "missing: Porto"),
    (BORN, "On 14 March 2024 you said: they were born yesterday.", "missing: 2024-03-13"),
    (BORN, "13 March 2023", "missing: 2024-03-13"),
    (AGO, "34 days", "missing: 35 days"),
    (CONCERTS, "On 2024-06-03 you said: “went to 3 concerts”", "missing: 3"),
    (CONCERTS, "Two, on 3 June and 8 July.", "missing: 3"),
    (CONCERTS, "Two, on 2/3/2024 and 3.6.2024.", "missing: 3"),
]


@pytest.mark.parametrize(("expected", "answer"), RIGHT)
def test_right_answers_pass_in_many_forms(expected: Expected, answer: str) -> None:
    assert faults(expected, answer) == []


@pytest.mark.parametrize(("expected", "answer", "fault"), WRONG)
def test_wrong_answers_fail_with_a_reason(expected: Expected, answer: str, fault: str) -> None:
    assert fault in faults(expected, answer)
