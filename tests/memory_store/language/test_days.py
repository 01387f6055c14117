"""Days named in other languages than English, read without any rule for a sentence."""

from datetime import date

import pytest

from memory_store import Days
from memory_store.language import PLAIN

TODAY = date(2024, 5, 15)  # a Wednesday


def days(first: tuple[int, int], last: tuple[int, int] | None = None, year: int = 2024) -> Days:
    return Days(date(year, *first), date(year, *(last or first)))


LAST_WEEK, LAST_THURSDAY = days((5, 6), (5, 12)), days((5, 9))
TWO_WEEKS_AGO, THIRD_OF_MARCH = days((4, 28), (5, 4)), days((3, 3))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("wir waren letzte woche krank", LAST_WEEK),
        ("Ich war vor zwei Wochen beim Arzt.", TWO_WEEKS_AGO),
        ("bin am 3. märz umgezogen", THIRD_OF_MARCH),
        ("Am 3. März 2021 bin ich eingezogen.", days((3, 3), year=2021)),
        ("letzten Donnerstag gab es bei uns Fisch", LAST_THURSDAY),
        ("der urlaub ist im august", days((8, 1), (8, 31))),
        ("zahnarzttermin ist am 12.06.2024", days((6, 12))),
        ("la semana pasada estuve mala", LAST_WEEK),
        ("me mudé hace dos semanas", TWO_WEEKS_AGO),
        ("me opere hace tres dias", days((5, 12))),
        ("el jueves pasado cenamos con los abuelos", LAST_THURSDAY),
        ("mi hermana se casa el 3 de marzo de 2025", days((3, 3), year=2025)),
        ("la boda es en septiembre", days((9, 1), (9, 30))),
        ("j'ai vu le kiné hier", days((5, 14))),
        ("on a mangé une pizza jeudi dernier", LAST_THURSDAY),
        ("j'ai déménagé il y a deux semaines", TWO_WEEKS_AGO),
        ("le 3 mars j'ai changé de travail", THIRD_OF_MARCH),
        ("la semaine derniere on était malades", LAST_WEEK),
        ("semana passada fui à praia com a minha irmã", LAST_WEEK),
        ("mudei de casa há duas semanas", TWO_WEEKS_AGO),
        ("上周四吃了火锅", LAST_THURSDAY),
        ("两周前搬到了北京", TWO_WEEKS_AGO),
        ("爸爸的手术定在5月27号", days((5, 27))),
        ("二〇二四年去过,三月三日回来的", THIRD_OF_MARCH),
        ("先週の木曜日に歯医者に行きました", LAST_THURSDAY),
        ("I saw the dentist last week.", LAST_WEEK),
        ("ich war gestern morgen beim zahnarzt", days((5, 14))),
        ("nächsten montag gehe ich zum arzt", days((5, 20))),
        ("dentro de tres semanas me caso con ella", days((6, 2), (6, 8))),
        ("la semana que viene voy a la playa", days((5, 20), (5, 26))),
        ("le 1er mai je suis parti avec ma femme", days((5, 1))),
        ("je suis allé chez le médecin avant-hier", days((5, 13))),
        ("na próxima segunda-feira tenho consulta", days((5, 20))),
        ("três dias atrás eu comprei um carro", days((5, 12))),
        ("大前天我病了", days((5, 12))),
        ("两个月后我要结婚", days((6, 30), (7, 30))),
        ("来週の月曜日に会議があります", days((5, 20))),
        ("三日前に買いました", days((5, 12))),
    ],
)
def test_the_days_of_a_statement(text: str, named: Days) -> None:
    assert PLAIN.event_days(text, TODAY) == (named,)


@pytest.mark.parametrize(
    "text",
    [
        "guten morgen, hier regnet es",  # "hier" is yesterday in French
        "ich stehe am Morgen gern früh auf",
        "seit letzter woche habe ich ein neues rad",
        "wir sehen uns am freitag",  # which one is not said
        "das ist meine letzte chance",
        "hoy en día todo es caro",
        "por la mañana desayuno con mi padre",
        "desde la semana pasada no duermo",
        "hace dos años que vivo aquí",
        "il y a deux semaines de vacances en tout",
        "les mois derniers étaient durs pour moi",
        "hoje em dia não há tempo para nada",
        "目前天气不错",
        "今后天天都要跑步",
        "马上周末了",
        "tuve la cita el 31 de febrero",
        "Bruges!",
        "ſeit wann iſt das ſo, nächſte Woche",
    ],
)
def test_a_text_that_names_no_day(text: str) -> None:
    assert PLAIN.event_days(text, TODAY) == ()


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("was habe ich im august gemacht", days((8, 1), (8, 31))),
        ("was habe ich letzte woche gegessen", LAST_WEEK),
        ("¿qué cené ayer?", days((5, 14))),
        ("qu'est-ce que j'ai fait le mois dernier ?", days((4, 1), (4, 30))),
        ("上周我吃了什么", LAST_WEEK),
        ("What did I do yesterday?", days((5, 14))),
    ],
)
def test_the_days_that_a_question_asks_about(question: str, asked: Days) -> None:
    found = PLAIN.time_range(question, TODAY)
    assert found
    assert found.days == asked


@pytest.mark.parametrize(
    "question",
    [
        "wann war ich beim zahnarzt",
        "wie lange ist der umzug von letzter woche her?",
        "¿cuánto tiempo llevo aquí desde el mes pasado?",
        "war das gestern oder vorgestern, was ich erzählt habe?",
        "我是什么时候搬家的",
    ],
)
def test_a_question_that_asks_about_no_days(question: str) -> None:
    assert PLAIN.time_range(question, TODAY) is None
