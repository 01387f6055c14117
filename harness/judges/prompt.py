"""The judges' prompts: a changed prompt is another judge."""

from functools import cache

from harness.prompt import Prompt, load_prompts


@cache
def _prompts() -> dict[str, Prompt]:
    return load_prompts("harness.judges.prompts")


def load_prompt(name: str) -> Prompt:
    """The prompt in `<name>.md`."""
    return _prompts()[name]


def all_prompts() -> list[Prompt]:
    """Every prompt file, by name."""
    return list(_prompts().values())
