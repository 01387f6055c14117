"""Texts that only look like dates: names with a day or a time in them, and quoted titles."""

import re

from memory_store.time.found import Found, Reference, Rule, fixed, rule


def _nothing(match: re.Match[str], reference: Reference) -> Found:
    return fixed(match, None)


# Shows, songs, chains and sayings with a weekday, season or time word of their own.
NAMES: tuple[Rule, ...] = (
    rule(
        r"(?:friday\s+the\s+13th|friday\s+night\s+lights|freaky\s+friday|casual\s+friday"
        r"|(?:monday|sunday|thursday|friday)\s+night\s+football|saturday\s+night\s+(?:live|fever)"
        r"|monday\.com|taco\s+tuesday|ruby\s+tuesday|tgi\s+fridays?|super\s+bowl\s+sunday"
        r"|sunday\s+(?:school|roast|best|brunch|funday|times)|bloody\s+sunday|giving\s+tuesday"
        r"|last\s+week\s+tonight|the\s+tonight\s+show|(?-i:Tonight\s+Show)|usa\s+today|psychology\s+today|today\s+show"
        r"|wednesday\s+addams|(?-i:(?:The\s+)?Day\s+After\s+Tomorrow)|years?\s+of\s+age"
        r"|winter\s+olympics|summer\s+(?:olympics|camp|school)|spring\s+(?:rolls?|onions?)"
        r"|24/7|9/11|50/50|(?:may|might)\s+(?:be|have|not)|may\s+i|march\s+madness)",
        _nothing,
    ),
)

_QUOTED = re.compile(
    r"\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|(?<![\w])['‘](?!\d0s)(?=\w)[^\n]{0,80}?\w?[?!.]?['’](?!\w)"
)


def without_titles(text: str) -> str:
    """The text with quoted titles blanked, every other character where it was."""
    if not any(mark in text for mark in "\"“'‘"):
        return text
    return _QUOTED.sub(lambda match: " " * len(match[0]), text)
