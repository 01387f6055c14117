"""The names of all settings, those of groups by their members."""

from collections.abc import Iterator

from pydantic import BaseModel
from pydantic.fields import FieldInfo

SettingPath = tuple[str, ...]
"""A setting by the names that lead to it: `("recall", "rounds")`."""


def setting_fields(
    model: type[BaseModel], above: SettingPath = ()
) -> Iterator[tuple[SettingPath, FieldInfo]]:
    """Each setting of a model and what is declared of it, in the order of the declarations."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from setting_fields(inner, (*above, name))
        else:
            yield (*above, name), field
