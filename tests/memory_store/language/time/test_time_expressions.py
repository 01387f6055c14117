"""Time expressions: the exact days of each phrase, worked out by hand on a calendar.

Reference days: 2023-05-30 is a Tuesday, 2023-12-31 a Sunday, 2024-01-01 a Monday, 2024-02-29 a
Thursday, 2022-10-15 a Saturday, 2023-03-01 a Wednesday, 2021-08-20 a Friday.
"""

from datetime import date

import pytest

from memory_store._spans import Precision, Relation, TimeExpression
from memory_store.language.dates import pack_of
from memory_store.language.dates.reading import read

# Each block: the reference day, then phrase | first day | last day (one day: no last).
PHRASES = """
# 2023-05-30
I called her today | 2023-05-30
I called her yesterday | 2023-05-29
the day before yesterday I called | 2023-05-28
I will call tomorrow | 2023-05-31
I leave the day after tomorrow | 2023-06-01
we ate out last night | 2023-05-29
I ran this morning | 2023-05-30
there is a show tonight | 2023-05-30
I ran yesterday evening | 2023-05-29
3 days ago | 2023-05-27
ten days ago | 2023-05-20
a couple of days ago | 2023-05-27 | 2023-05-29
a few days ago | 2023-05-25 | 2023-05-28
several days ago | 2023-05-23 | 2023-05-27
two weeks ago | 2023-05-13 | 2023-05-19
about two weeks ago | 2023-05-13 | 2023-05-19
exactly two weeks ago | 2023-05-16
a week ago today | 2023-05-23
two weeks ago on Saturday | 2023-05-13
a couple of weeks ago | 2023-05-09 | 2023-05-23
a month ago | 2023-04-15 | 2023-05-15
three months ago | 2023-02-13 | 2023-03-15
a year ago | 2021-11-29 | 2022-11-28
30 minutes ago | 2023-05-30
last week | 2023-05-22 | 2023-05-28
this week | 2023-05-29 | 2023-06-04
next week | 2023-06-05 | 2023-06-11
the week before last | 2023-05-15 | 2023-05-21
the week after next | 2023-06-12 | 2023-06-18
last month | 2023-04-01 | 2023-04-30
this month | 2023-05-01 | 2023-05-31
next month | 2023-06-01 | 2023-06-30
the month before last | 2023-03-01 | 2023-03-31
last year | 2022-01-01 | 2022-12-31
this year | 2023-01-01 | 2023-12-31
next year | 2024-01-01 | 2024-12-31
last quarter | 2023-01-01 | 2023-03-31
last weekend | 2023-05-27 | 2023-05-28
this past weekend | 2023-05-27 | 2023-05-28
this weekend | 2023-06-03 | 2023-06-04
over the weekend | 2023-05-27 | 2023-05-28
two weekends ago | 2023-05-20 | 2023-05-21
the weekend before last | 2023-05-20 | 2023-05-21
last Friday | 2023-05-26
last Tuesday | 2023-05-23
on Friday | 2023-05-26
on Tuesday | 2023-05-23
this Friday | 2023-06-02
this past Friday | 2023-05-26
next Friday | 2023-06-09
the Friday before last | 2023-05-19
two Saturdays ago | 2023-05-20
I saw them Sunday | 2023-05-28
Saturday morning | 2023-05-27
last week on Friday | 2023-05-26
Friday of last week | 2023-05-26
in the past two weeks | 2023-05-16 | 2023-05-30
in the last 3 months | 2023-02-28 | 2023-05-30
over the past few weeks | 2023-04-25 | 2023-05-30
during the last month | 2023-04-30 | 2023-05-30
the past year | 2022-05-30 | 2023-05-30
this past week | 2023-05-23 | 2023-05-30
in the last 24 hours | 2023-05-29 | 2023-05-30
in the next two weeks | 2023-05-30 | 2023-06-13
two weeks from now | 2023-06-10 | 2023-06-16
I will be done in three days | 2023-06-02
a week from Friday | 2023-06-09
two weeks from tomorrow | 2023-06-14
earlier this month | 2023-05-01 | 2023-05-30
later this year | 2023-05-30 | 2023-12-31
in March | 2023-03-01 | 2023-03-31
in may | 2023-05-01 | 2023-05-31
I was there in August | 2022-08-01 | 2022-08-31
I will be there in August | 2023-08-01 | 2023-08-31
in March 2022 | 2022-03-01 | 2022-03-31
March of last year | 2022-03-01 | 2022-03-31
last year in March | 2022-03-01 | 2022-03-31
last March | 2023-03-01 | 2023-03-31
next March | 2024-03-01 | 2024-03-31
in 2022 | 2022-01-01 | 2022-12-31
early March | 2023-03-01 | 2023-03-10
mid-February | 2023-02-11 | 2023-02-20
late April | 2023-04-21 | 2023-04-30
in early 2022 | 2022-01-01 | 2022-04-30
late last year | 2022-09-01 | 2022-12-31
the first week of April | 2023-04-01 | 2023-04-07
the last week of April | 2023-04-24 | 2023-04-30
the last Friday of April | 2023-04-28
the first Monday in May | 2023-05-01
the first weekend of April | 2023-04-01 | 2023-04-02
the second half of April | 2023-04-16 | 2023-04-30
the beginning of the month | 2023-05-01 | 2023-05-10
the end of last month | 2023-04-21 | 2023-04-30
the end of last year | 2022-11-01 | 2022-12-31
at the end of the week | 2023-06-02 | 2023-06-04
the week of May 8 | 2023-05-08 | 2023-05-14
last summer | 2022-06-01 | 2022-08-31
in the fall of 2021 | 2021-09-01 | 2021-11-30
last winter | 2022-12-01 | 2023-02-28
this spring | 2023-03-01 | 2023-05-31
in Q1 2022 | 2022-01-01 | 2022-03-31
in the first quarter of 2023 | 2023-01-01 | 2023-03-31
in the 1980s | 1980-01-01 | 1989-12-31
in the '90s | 1990-01-01 | 1999-12-31
on Valentine's Day | 2023-02-14
on New Year's Eve | 2022-12-31
on New Year's Day | 2023-01-01
at Easter | 2023-04-09
on Mother's Day | 2023-05-14
on Memorial Day | 2023-05-29
last Father's Day | 2022-06-19
last Thanksgiving | 2022-11-24
last Halloween | 2022-10-31
Christmas 2021 | 2021-12-25
on the 4th of July | 2023-07-04
two days after Christmas | 2022-12-27
the day before Thanksgiving | 2023-11-22
the weekend after Easter | 2023-04-15 | 2023-04-16
on 2023/05/20 | 2023-05-20
on 2023-05-20 | 2023-05-20
on May 3rd | 2023-05-03
on 3 May 2022 | 2022-05-03
on 3 May '22 | 2022-05-03
May 3, 2022 | 2022-05-03
the 15th of March | 2023-03-15
on the 15th | 2023-05-15
on the 15th of last month | 2023-04-15
May 3–5 | 2023-05-03 | 2023-05-05
from the 3rd to the 10th | 2023-05-03 | 2023-05-10
between 3 and 10 May | 2023-05-03 | 2023-05-10
between the 3rd and the 10th of May 2022 | 2022-05-03 | 2022-05-10
between May 3 and 10 | 2023-05-03 | 2023-05-10
on 5/3 | 2023-05-03
on 5/3/2022 | 2022-05-03
on 25/3/2022 | 2022-03-25
from 5/3 to 5/10 | 2023-05-03 | 2023-05-10
Friday, May 5th | 2023-05-05
around March 5 | 2023-03-02 | 2023-03-08
between March 3 and March 10 | 2023-03-03 | 2023-03-10
between November and February | 2023-11-01 | 2024-02-29
from May 28 to June 2 | 2023-05-28 | 2023-06-02
from Thursday to Saturday | 2023-05-25 | 2023-05-27
from 2018 to 2020 | 2018-01-01 | 2020-12-31
# 2023-12-31
yesterday | 2023-12-30
tomorrow | 2024-01-01
last Sunday | 2023-12-24
this week | 2023-12-25 | 2023-12-31
next week | 2024-01-01 | 2024-01-07
next Monday | 2024-01-01
this weekend | 2023-12-30 | 2023-12-31
last weekend | 2023-12-23 | 2023-12-24
on Christmas Eve | 2023-12-24
on Black Friday | 2023-11-24
next year | 2024-01-01 | 2024-12-31
last month | 2023-11-01 | 2023-11-30
the past 6 months | 2023-06-30 | 2023-12-31
on the 31st | 2023-12-31
last fall | 2023-09-01 | 2023-11-30
# 2024-01-01
yesterday | 2023-12-31
last week | 2023-12-25 | 2023-12-31
last month | 2023-12-01 | 2023-12-31
last year | 2023-01-01 | 2023-12-31
a month ago | 2023-11-16 | 2023-12-16
in December | 2023-12-01 | 2023-12-31
on the 31st | 2023-12-31
last Monday | 2023-12-25
over Christmas | 2023-12-25
this winter | 2023-12-01 | 2024-02-29
Labor Day weekend last year | 2023-09-02 | 2023-09-04
# 2024-02-29
a year ago today | 2023-02-28
a month ago | 2024-01-14 | 2024-02-13
in the past month | 2024-01-29 | 2024-02-29
this month | 2024-02-01 | 2024-02-29
next month | 2024-03-01 | 2024-03-31
on February 29th | 2024-02-29
last Thursday | 2024-02-22
on the 30th | 2024-01-30
at the end of February | 2024-02-20 | 2024-02-29
I am flying home at Easter | 2024-03-31
# 2022-10-15
yesterday | 2022-10-14
last Saturday | 2022-10-08
last weekend | 2022-10-08 | 2022-10-09
this weekend | 2022-10-15 | 2022-10-16
two weeks ago | 2022-09-28 | 2022-10-04
last summer | 2022-06-01 | 2022-08-31
on Labor Day | 2022-09-05
in the 2010s | 2010-01-01 | 2019-12-31
# 2023-03-01
yesterday | 2023-02-28
last month | 2023-02-01 | 2023-02-28
in March | 2023-03-01 | 2023-03-31
on the 30th | 2023-01-30
half a year ago | 2022-06-02 | 2022-12-01
on St. Patrick's Day | 2023-03-17
last winter | 2022-12-01 | 2023-02-28
# 2021-08-20
last Friday | 2021-08-13
on Friday | 2021-08-13
next Friday | 2021-08-27
I have to be there on Monday | 2021-08-23
this summer | 2021-06-01 | 2021-08-31
on Independence Day | 2021-07-04
"""


def time_expressions(text: str, today: date) -> list[TimeExpression]:
    found = read(text, today, pack_of("en"))
    return [found.expression(item) for item in found.found] if found else []


def rows() -> list[tuple[str, date, tuple[date, date]]]:
    """Phrase, reference day, and its days."""
    table: list[tuple[str, date, tuple[date, date]]] = []
    today = date.min
    for line in PHRASES.strip().splitlines():
        if line.startswith("#"):
            today = date.fromisoformat(line.removeprefix("# "))
            continue
        phrase, *days = (cell.strip() for cell in line.split("|"))
        table.append((phrase, today, (date.fromisoformat(days[0]), date.fromisoformat(days[-1]))))
    return table


@pytest.mark.parametrize(("phrase", "today", "days"), rows())
def test_a_phrase_names_exactly_these_days(
    phrase: str, today: date, days: tuple[date, date]
) -> None:
    found = [(e.first, e.last) for e in time_expressions(phrase, today)]
    assert found == [days]


TUESDAY = date(2023, 5, 30)


def only(text: str, today: date = TUESDAY) -> TimeExpression:
    (expression,) = time_expressions(text, today)
    return expression


@pytest.mark.parametrize(
    ("text", "precision"),
    [
        ("yesterday", Precision.DAY),
        ("last weekend", Precision.WEEKEND),
        ("two weeks ago", Precision.WEEK),
        ("in March", Precision.MONTH),
        ("in Q2 2022", Precision.QUARTER),
        ("last summer", Precision.SEASON),
        ("in 2022", Precision.YEAR),
        ("in the 1990s", Precision.DECADE),
        ("from March to May", Precision.SPAN),
        ("in the past two weeks", Precision.SPAN),
    ],
)
def test_an_expression_knows_its_unit(text: str, precision: Precision) -> None:
    assert only(text).precision is precision


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("in March", Relation.ON),
        ("since March", Relation.SINCE),
        ("ever since March", Relation.SINCE),
        ("until Friday", Relation.UNTIL),
        ("up to last week", Relation.UNTIL),
        ("before March 5", Relation.BEFORE),
        ("prior to 2022", Relation.BEFORE),
        ("after Easter", Relation.AFTER),
        ("a scarf for Christmas", Relation.FOR),
    ],
)
def test_the_word_before_says_how_the_days_are_meant(text: str, relation: Relation) -> None:
    assert only(text).relation is relation


def test_an_expression_carries_its_words_and_where_they_begin() -> None:
    text = "I’ve known since early March 2022, you know."
    expression = only(text)
    assert expression.text == "since early March 2022"
    assert text[expression.start :].startswith(expression.text)


def test_expressions_come_in_order() -> None:
    text = "In March I met Ana, on 2023/04/02 Bo, and yesterday Cy."
    firsts = [str(e.first) for e in time_expressions(text, TUESDAY)]
    assert firsts == ["2023-03-01", "2023-04-02", "2023-05-29"]


def test_a_list_shares_its_preposition() -> None:
    found = time_expressions("I was there in March, April and May.", TUESDAY)
    assert [e.first.month for e in found] == [3, 4, 5]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("I met her on Friday", "2023-05-26"),
        ("I'm meeting her on Friday", "2023-06-02"),
        ("We will meet on Friday", "2023-06-02"),
        ("I booked a table for Friday", "2023-06-02"),
        ("I need to return the boots I bought on Friday", "2023-05-26"),
        ("I need to return the boots on Friday", "2023-06-02"),
        ("She has a concert in June", "2023-06-01"),
        ("She gave a concert in June", "2022-06-01"),
        ("I have been there in June", "2022-06-01"),
        ("I've lived here since June", "2022-06-01"),
        ("The parcel will be delivered on Friday", "2023-06-02"),
        ("I'm sorting photos from June", "2022-06-01"),
    ],
)
def test_the_verb_decides_between_the_last_and_the_next(text: str, first: str) -> None:
    assert str(only(text).first) == first


def test_an_unusual_form_is_left_to_dateparser() -> None:
    expression = only("I fixed it 5d ago.")
    assert (expression.first, expression.last) == (date(2023, 5, 25), date(2023, 5, 25))


@pytest.mark.parametrize("today", [date.min, date(1, 3, 1), date(9999, 12, 31), date.max])
@pytest.mark.parametrize(
    "text",
    "500 years ago|last month|in 3 decades|next year|Christmas 2021|on New Year's|since March"
    "|the end of next decade|every Friday|February 30|on 2/30/2022".split("|"),
)
def test_the_ends_of_the_calendar_break_nothing(text: str, today: date) -> None:
    said = f"I will be done {text}"
    for found in time_expressions(said, today):
        assert found.first <= found.last
        assert said[found.start :].startswith(found.text)
