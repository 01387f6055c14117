"""The range of a question: right days where it names some, and none where it does not."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_store._spans import TimeRange
from memory_store.language import ENGLISH

TUESDAY = date(2023, 5, 30)

# question | first day | last day; a dash is an open end.
RANGES = """
What did I cook last Sunday? | 2023-05-28 | 2023-05-28
Which film did I see two weeks ago? | 2023-05-13 | 2023-05-19
How many concerts did I go to in March? | 2023-03-01 | 2023-03-31
How many days did I spend in Lisbon last month? | 2023-04-01 | 2023-04-30
How long did I stay in Oslo last summer? | 2022-06-01 | 2022-08-31
What have I bought since January? | 2023-01-01 | 2023-05-30
What have I planted since last weekend? | 2023-05-27 | 2023-05-30
Which books did I finish before March 5? | - | 2023-03-04
What did I sell after Easter? | 2023-04-10 | 2023-05-30
What did I do until last Friday? | - | 2023-05-26
Who did I meet between March 3 and March 10? | 2023-03-03 | 2023-03-10
Where did I travel from November to February? | 2022-11-01 | 2023-02-28
What did I do in March and April? | 2023-03-01 | 2023-04-30
Did I run more this month than last month? | 2023-04-01 | 2023-05-31
How many times did I swim in the past two weeks? | 2023-05-16 | 2023-05-30
What was the first thing I cooked in 2022? | 2022-01-01 | 2022-12-31
What happened on Valentine's Day? | 2023-02-14 | 2023-02-14
What am I doing on Friday? | 2023-06-02 | 2023-06-02
What did I do on Friday? | 2023-05-26 | 2023-05-26
What do I have planned for next week? | 2023-06-05 | 2023-06-11
What did I tell you yesterday about my boss? | 2023-05-29 | 2023-05-29
We talked about bread last week. Which flour did you name? | 2023-05-22 | 2023-05-28
What did I eat in the first week of April? | 2023-04-01 | 2023-04-07
Which museum did I visit two days after Christmas? | 2022-12-27 | 2022-12-27
What did I order on 5/3? | 2023-05-03 | 2023-05-03
In 2022, which races did I run in May 2022? | 2022-05-01 | 2022-05-31
What did I do after March 5 and before April? | 2023-03-06 | 2023-03-31
Which dishes did I cook for my guests over the weekend? | 2023-05-27 | 2023-05-28
How many calls did I have on May 15th and 16th? | 2023-05-15 | 2023-05-16
What did I plan for tomorrow? | 2023-05-31 | 2023-05-31
What did I plan to do in August? | 2023-08-01 | 2023-08-31
What is planned for the weekend? | 2023-06-03 | 2023-06-04
What did I plant in the months of March and April? | 2023-03-01 | 2023-04-30
What did I bake the night before last? | 2023-05-28 | 2023-05-28
What did I bake at the weekend? | 2023-05-27 | 2023-05-28
Remind me what I bought on the 15th | 2023-05-15 | 2023-05-15
How much did I spend on fuel this year? | 2023-01-01 | 2023-12-31
"""


def day(text: str) -> date | None:
    return None if text == "-" else date.fromisoformat(text)


@pytest.mark.parametrize("row", RANGES.strip().splitlines())
def test_a_dated_question_gives_its_days(row: str) -> None:
    question, first, last = (cell.strip() for cell in row.split("|"))
    found = ENGLISH.time_range(question, TUESDAY)
    assert found is not None
    assert (found.first, found.last) == (day(first), day(last))


WITHOUT = """
Where did I put my keys?
What is the name of my sister's dog?
May I ask what my favourite colour is?
What may I have said about tea?
Do you have a second to look at my recipe?
Which was the second book I read?
How was the march we joined?
Where did we march with Ana?
Who sat beside me at dinner?
When I sat down, what did I order?
What did May say about her new job?
Did April like my present?
Is my friend June still in Ghent?
Does August live in Leuven?
How long in the sun did the plants need?
What did I say about sun cream?
Where did we go with the kids?
Which version did I install, 3.11 or 3.12?
Did I upgrade to 2.10.3?
How much was the lamp, $2022 or $1999?
Did the bike cost 1,999 euros?
Is the shop open 24/7?
Did I use 1/2 cup of sugar or 3/4 cup?
What was my score, 7/10 or 8/10?
Is my number 555-0123?
Should I call 02 555 12 34?
How far did I drive on Route 66?
Where did I find the 1980s chair?
What colour is the 90s jacket?
Which apartment did I view, 2019 or 2020?
Do I prefer Windows 11?
What did I think of the 15th floor flat?
What did I say about the 19th century house?
Which of the 12 plants died?
What is my marathon time now?
What am I reading now?
How many bikes do I currently own?
What did I do recently?
Any ideas for things to do lately?
What did I do in the past?
Who did I meet at the end?
What was the last book I read?
What is the next step for my thesis?
Which was the last time I saw Bo?
Did I enjoy this book?
Who won the first game?
What do I do every Monday?
Which class do I take on Mondays?
What do I usually eat on Sunday?
Where do I go on weekends?
What do I do on Thursday evenings?
How many days a week do I run?
How many times per month do I swim?
What day of the week is my yoga class?
How many days ago did I plant the beans?
How many weeks ago did I see the dentist?
How long ago did I move to Ghent?
How long have I been learning Dutch?
How long had I lived in Rome when I met Bo?
How long have I worked there since January?
How many months have passed since I quit smoking?
How many days passed between March 3 and my birthday?
How many weeks are there between Easter and my trip?
How many days before Christmas did I order the gift?
How many days after the party did I fall ill?
How many years older am I than my sister?
How old was I when we moved in 2010?
How old is my car?
How much time passed between the two races?
How many months since my last haircut?
How many hours do I sleep?
How long did it take me to paint the fence?
How many days did it take for the lamp to arrive?
How many weeks until my exam?
How much time do I have left until Friday?
What is the difference in days between the two trips?
How many followers did I gain in two weeks?
What did I read in two days?
What did I think of 'Friday Night Lights'?
Did I like "The Day After Tomorrow"?
Who recommended “Last Christmas” to me?
What did I say about Friday the 13th?
Where did I watch Saturday Night Live?
Did I buy a Christmas tree?
What is my Halloween costume?
Which Easter eggs did I paint?
What do I grow in summer?
Do I like the winter coat?
Who gave me the fall catalogue?
Did I fall off the bike?
Did spring rolls make me ill?
What did my mother say about the mar on the table?
How do I march in step?
What did Wednesday Addams wear in my sketch?
Is Monday.com what my team uses?
What did I write in the quarter-finals blog?
Which gift did I pick for my 30th birthday?
Which team came 3rd?
Which 5K did I run faster?
How many of the 2000 pieces are left?
What is my 10-20-30 plan?
Did I say a month is enough?
Is a week in Rome too short?
What did Dec tell me about Ant?
How many calories are between 1900 and 2000 for me?
Did I set the oven to 1950 watts?
I'm off to Rome next month. What did you say about trams?
"""


@pytest.mark.parametrize("question", WITHOUT.strip().splitlines())
def test_a_question_without_days_gives_none(question: str) -> None:
    assert ENGLISH.time_range(question, TUESDAY) is None


def test_expressions_far_apart_give_none() -> None:
    question = "Did I spend more in March 2021 or in April 2023?"
    assert ENGLISH.time_range(question, TUESDAY) is None


def test_a_range_is_days_with_its_provenance() -> None:
    found = ENGLISH.time_range("What did I do since March?", TUESDAY)
    assert found is not None
    assert found.text == "since March"
    assert (found.days.first, found.days.last) == (date(2023, 3, 1), TUESDAY)


PIECES = "I we may march sat sun last next this two weeks days ago on in since until before after"
PIECES += " between and from to the of March May Friday 5 15th 2022 2023/05/20 5/3 early end week"
PIECES += " month year Christmas summer every for first weekend tomorrow today ? . , ' -"


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.sampled_from(PIECES.split()), max_size=12),
    st.dates(date(1990, 1, 1), date(2060, 1, 1)),
)
def test_no_question_breaks_it_and_ranges_are_in_order(words: list[str], today: date) -> None:
    found = ENGLISH.time_range(" ".join(words), today)
    assert found is None or isinstance(found, TimeRange)
    if found is not None:
        assert found.days.first is not None or found.days.last is not None
