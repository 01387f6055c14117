"""HTML pages from the templates of a package: each is one file that asks nothing of any server."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = "harness.report"


def render_page(
    template: str, *, title: str, facts: Mapping[str, str], package: str = _HERE, **values: Any
) -> str:
    """A page of a package's own `templates`, under a title and a list of named facts; every text
    in the values is escaped.
    """
    page = _environment(package).get_template(template)
    return page.render(title=title, facts=facts, **values)


@cache
def _environment(package: str) -> "Environment":
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(package), PackageLoader(_HERE)])
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals["asset"] = _asset
    return made


def _asset(name: str) -> str:
    """A style sheet or script that lies beside this module."""
    return (resources.files(_HERE) / name).read_text(encoding="utf-8")
