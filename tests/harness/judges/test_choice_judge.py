"""Which option an answer names."""

import pytest

from harness.judges.registry import default_judge, named_option

OPTIONS = ("red", "dark red", "a green tent", "blue")


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("b", 1),
        ("(C)", 2),
        ("d.", 3),
        ("**(a)** because you said so", 0),
        ("C) the tent", 2),
        ("I weighed (a) and (b). The answer is (d).", 3),
        ("Final answer: option B", 1),
        ("First I thought answer: a. Answer: c", 2),
        ("The answer is (c). Option (a) is plain red, option (d) is not what you like.", 2),
        ("(c). Option (a) is not what you like.", 2),
        ("Option B, because option A is plain.", 1),
        ("The best option is (d); option (a) is not.", 3),
        ("I would choose option (c) rather than option (a).", 2),
        ("I'd not choose (a): the answer is d", 3),
        ("Option (a) and option (b) both fit.", None),
        ("Of these, option (a) or option (b).", None),
        ("From what you said, option (b) fits.", 1),
        ("It must be (b), from what you told me.", 1),
        ("You would like a Green tent.", 2),
        ("Dark red.", 1),
        ("Red, I think.", 0),
        ("(a) or (b)?", None),
        ("either blue or a green tent", None),
        ("between (a) and (b), hard to say", None),
        ("(j)", None),
        ("The answer is a guess.", None),
        ("The answer is a.", 0),
        ("Nothing fits.", None),
        ("", None),
    ],
)
def test_an_answer_names_one_option_or_none(answer: str, named: int | None) -> None:
    assert named_option(answer, OPTIONS) == named


@pytest.mark.parametrize(
    ("dataset", "judge"),
    [
        ("personamem", "choice"),
        ("personamem-v2", "choice"),
        ("dialsim", "choice"),
        ("beam", "beam"),
        ("perltqa", "lexical"),
        ("longmemeval", "lexical"),
    ],
)
def test_a_data_set_is_judged_by_what_it_is_scored_by(dataset: str, judge: str) -> None:
    assert default_judge(dataset) == judge
