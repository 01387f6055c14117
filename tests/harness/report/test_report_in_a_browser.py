"""The report's page of 500 questions in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Watched
from made_runs import made_run

from harness.records.run_dir import RunDir
from harness.report.build import write_report

pytestmark = pytest.mark.browser
KINDS = ("multi-session", "temporal-reasoning", "knowledge-update")


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = [f"question-{i:03}" for i in range(500)]
    path = made_run(
        tmp_path_factory.mktemp("report") / "run",
        {name: "yes" if i % 3 else "no" for i, name in enumerate(names)},
        kinds={name: KINDS[i % 3] for i, name in enumerate(names)},
        ranks={name: 40 for name in names[:50]},
        said=" And so on." * 100,
        rounds=50,
    )
    write_report(RunDir(path))
    return path / "report.html"


@pytest.fixture
def opened(chromium: Any, page_file: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The page; it must not complain, and must ask for nothing but itself."""
    context = chromium.new_context(**getattr(request, "param", {}))
    watched = Watched(context.new_page())
    watched.page.goto(page_file.as_uri())
    yield watched.page
    context.close()
    assert watched.complaints == []
    assert watched.asked == [page_file.as_uri()]


def test_filters_narrow_the_questions_down(opened: Any) -> None:
    count = opened.locator(".filters output")
    assert count.text_content() == "500 of 500"
    opened.locator("select[name=verdict]").select_option("wrong")
    assert count.text_content() == "167 of 500"
    opened.locator("select[name=evidence]").select_option("missed")
    assert count.text_content() == "17 of 500"
    opened.locator("select[name=type]").select_option("multi-session")
    opened.locator(".filters input").fill("question-006")
    assert count.text_content() == "1 of 500"
    assert opened.locator("#questions > details:visible").count() == 1


def test_a_question_opens_with_all_that_is_known(opened: Any) -> None:
    opened.locator("#questions > details > summary").first.click()
    details = opened.locator("#questions > details[open]")
    for text in ("gold question-000", "no: because", "rank 40:", "In context"):
        assert text in details.inner_text()


@pytest.mark.parametrize(
    "opened",
    [
        {"viewport": {"width": 360, "height": 740}},
        {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    ],
    indirect=True,
)
def test_no_screen_has_to_be_scrolled_sideways(opened: Any) -> None:
    widths = opened.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert widths[0] <= widths[1]


@pytest.mark.parametrize("opened", [{"java_script_enabled": False}], indirect=True)
def test_every_question_can_be_opened_without_a_script(opened: Any) -> None:
    assert opened.locator("#questions > details").count() == 500
    opened.locator("#questions > details > summary").last.click()
    assert "gold question-499" in opened.locator("#questions > details[open]").inner_text()
