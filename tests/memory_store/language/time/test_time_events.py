"""Event dates: the days a statement names, seen from the day it was said."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from memory_store._types import Days
from memory_store.language import ENGLISH

# Said on Saturday, 2023-05-20. statement | days, each first..last or one day; nothing for none.
STATEMENTS = """
I adopted a cat last Tuesday. | 2023-05-16
I adopted a cat yesterday. | 2023-05-19
I painted the fence today. | 2023-05-20
I ran ten miles this morning. | 2023-05-20
We saw a play last night. | 2023-05-19
I lost my keys two weeks ago. | 2023-05-03..2023-05-09
I started piano lessons three months ago. | 2023-02-05..2023-03-07
I moved to Ghent in March. | 2023-03-01..2023-03-31
I moved to Ghent in October. | 2022-10-01..2022-10-31
moved to ghent in october | 2022-10-01..2022-10-31
we moved in in october | 2022-10-01..2022-10-31
I graduated in 2015. | 2015-01-01..2015-12-31
I paid the rent on the 15th. | 2023-05-15
My bike broke on May 3rd. | 2023-05-03
The lamp arrived on 2/10. | 2023-02-10
I finally set up the tent on 4/8. | 2023-04-08
I flew home on 2023/04/02. | 2023-04-02
The flight was on April 2, 2022. | 2022-04-02
I have a dentist appointment next Friday. | 2023-05-26
I'm meeting Bo tomorrow. | 2023-05-21
I'm seeing the doctor on Wednesday. | 2023-05-24
I saw the doctor on Wednesday. | 2023-05-17
My mum turns 70 on June 3rd. | 2023-06-03
Bo is getting married on Friday. | 2023-05-26
Bo gets married on June 12. | 2023-06-12
My dad retires on June 1st. | 2023-06-01
Bo married Ana on June 12 and will move soon. | 2022-06-12
We got married on Friday. | 2023-05-19
We fly to Rome next month. | 2023-06-01..2023-06-30
I'm leaving for Rome in two weeks. | 2023-05-31..2023-06-06
My exam is in three days. | 2023-05-23
I'm thinking of camping this weekend. | 2023-05-20..2023-05-21
I went camping last weekend. | 2023-05-13..2023-05-14
I cleaned the attic over the weekend. | 2023-05-20..2023-05-21
I baked a pie for Thanksgiving. | 2022-11-24
I'm making soup for Thanksgiving. | 2023-11-23
I got a scarf for Christmas. | 2022-12-25
I met Ana on New Year's Eve. | 2022-12-31
I was in Oslo from May 3 to May 5. | 2023-05-03..2023-05-05
I was in Oslo May 3–5. | 2023-05-03..2023-05-05
I have had the cat since March. | 2023-03-01..2023-03-31
I'm free until Friday. | 2023-05-26
My contract runs until 28 February. | 2024-02-28
Parking permit valid until the end of March. | 2024-03-22..2024-03-31
I lived in Bonn until the end of March. | 2023-03-22..2023-03-31
I started in early April. | 2023-04-01..2023-04-10
I quit at the end of last year. | 2022-11-01..2022-12-31
I was in Spain last summer. | 2022-06-01..2022-08-31
I plan to hike the trail this summer. | 2023-06-01..2023-08-31
I broke my arm a couple of days ago. | 2023-05-17..2023-05-19
I bought it about a month ago. | 2023-04-05..2023-05-05
I sold my car on Monday and bought a bike on Thursday. | 2023-05-15 2023-05-18
In March I met Ana, and last week I met Bo. | 2023-03-01..2023-03-31 2023-05-08..2023-05-14
I called on Friday, yes, on Friday. | 2023-05-19
I've read five books in the past month. | 2023-04-20..2023-05-20
My sister is having a baby in August. | 2023-08-01..2023-08-31
My sister had a baby in August. | 2022-08-01..2022-08-31
The concert is scheduled for June 3rd. | 2023-06-03
I'm returning the boots I bought on Monday. | 2023-05-15
By the way, I was ill the week before last. | 2023-05-01..2023-05-07
My birthday is on the 3rd of June. | 2023-06-03
I saw her the day before yesterday. | 2023-05-18
I signed the lease on the first Monday in April. | 2023-04-03
I joined the choir two Sundays ago. | 2023-05-07
Dinner with Ana tonight! | 2023-05-20
We spent New Year's in Lisbon. | 2022-12-31..2023-01-01
I'm hosting Thanksgiving this year. | 2023-11-23
I signed up for a class that starts on June 5th. | 2023-06-05
My trial ends in 14 days. | 2023-06-03
We move on 28 November. | 2023-11-28
I fly to Rome on 3 June. | 2023-06-03
Did we move on 3 March? | 2023-03-03
My parents visit for Easter every year. |
I go for a run every Monday. |
My check-ups are on the first Monday of each month. |
Each year we fly to Rome in June. |
I have yoga on Mondays and Thursdays. |
I usually swim on Tuesday. |
I work Monday to Friday. |
I work from home on weekends. |
I call my mum each Sunday evening. |
I was in Rome for two weeks. |
I've been ill for the past two weeks. |
The course takes three months. |
It took me two years to finish. |
I finished the puzzle in two days. |
I get up at 6:30 and go to bed at 11 pm. |
My daughter is 5 years old. |
I have a 3-year-old son. |
I turned 30 and I feel old. |
I may adopt a second cat. |
I sat in the sun. |
We march for peace. |
I bought it before Christmas. |
I need 1/2 cup of milk. |
I paid $1999 for the bike. |
I live at 2020 Elm Street. |
I like music from the 1980s. |
I read 'Friday Night Lights'. |
My friend May came over. |
I run three times a week. |
I like tea. |
"""
SATURDAY = date(2023, 5, 20)
# Days without a year, said on Saturday, 2023-05-20: by the verb of the clause, else the nearest.
WITHOUT_A_YEAR = """
My hearing was on March 29. | 2023-03-29
i went there march 29 | 2023-03-29
The deadline is March 29. | 2024-03-29
passport expires march 29 | 2024-03-29
My lease ended in October. | 2022-10-01..2022-10-31
My lease ends in October. | 2023-10-01..2023-10-31
flight on march 29 | 2023-03-29
deadline: june 3 | 2023-06-03
surgery june 10 at 9:20 | 2023-06-10
the surgery got moved, its july 24 now | 2023-07-24
the exam was cancelled, new one's on the 1st | 2023-06-01
the exam was cancelled, it was on the 15th | 2023-05-15
wedding moved to september 12 | 2023-09-12
party on the 26th | 2023-05-26
Pepper comes home on the 3rd | 2023-06-03
paid the rent on the 26th | 2023-04-26
they pushed it to 12 june | 2023-06-12
booked lisbon 9th to 14th sept! | 2023-09-09..2023-09-14
We found a hall by the river, Saturday August 26. | 2023-08-26
My mum sold the house, shes moving in august | 2023-08-01..2023-08-31
The rent goes up from 1 june. | 2023-06-01
The visit went well, they operate on 26 july. | 2023-07-26
When I was in Rome, on October 3, I saw the Pope. | 2022-10-03
appt 4 july 11.15 with the vet | 2023-07-04
we may 3 of us go |
"""
# As people type them, on Saturday, 2023-05-20.
AS_TYPED = """
i moved in on the 4th of march | 2023-03-04
she was born on the 4th of march 2021 | 2021-03-04
the 4th of march was great | 2023-03-04
we met on 7th of may | 2023-05-07
we met on the 7th may | 2023-05-07
moved in on feb 12 | 2023-02-12
i moved in 4 march | 2023-03-04
i moved in march 4th | 2023-03-04
i moved in 12 jan | 2023-01-12
we left the 3rd of sept | 2022-09-03
was away from the 4th of march to the 9th of april | 2023-03-04..2023-04-09
dentist appointment is on fri | 2023-05-26
we will meet next tues | 2023-05-23
saw her last wed | 2023-05-17
the party is sat 3 june | 2023-06-03
i need it by thurs | 2023-05-25
i paid on the 4th of each of them |
we had a party in q1 | 2023-01-01..2023-03-31
i met her on may 3,2022 | 2022-05-03
i saw them a year and a half ago | 2021-08-21..2022-02-19
i woke up at 9:30 am on monday | 2023-05-15
i met her back in october | 2022-10-01..2022-10-31
i sat 2 hours |
this sun was killing me |
i asked if the 5th may be better |
dentist 4/3 at 3pm |
i sat on the bench in the sun |
i put cream on sun spots |
you may 5 people |
i march 3 miles |
i may 2 times |
"""


def days(text: str) -> Days:
    first, _, last = text.partition("..")
    return Days(date.fromisoformat(first), date.fromisoformat(last or first))


@pytest.mark.parametrize("row", (STATEMENTS + WITHOUT_A_YEAR + AS_TYPED).strip().splitlines())
def test_a_statement_names_these_days(row: str) -> None:
    statement, _, expected = row.partition("|")
    assert ENGLISH.event_days(statement.strip(), SATURDAY) == tuple(map(days, expected.split()))


def test_a_moment_counts_by_its_own_day() -> None:
    east = datetime(2023, 5, 20, 1, tzinfo=timezone(timedelta(hours=9)))  # 19 May in UTC
    assert ENGLISH.event_days("I ran today.", east) == (Days(SATURDAY, SATURDAY),)
    assert ENGLISH.event_days("I ran today.", datetime(2023, 5, 20, 23, tzinfo=UTC)) == (
        Days(SATURDAY, SATURDAY),
    )
