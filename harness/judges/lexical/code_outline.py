"""Code as what it does, apart from how it is written down: no spaces, comments or docstrings, not
where in the harness its names come from, and the same under every version of Python.
"""

import ast
from typing import Any

_BODIES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Where a name is read or written follows from its place; the rest says nothing about values.
_LEFT_OUT = {"ctx", "kind", "type_comment", "type_ignores", "type_params"}


def code_outline(source: str) -> Any:
    """The syntax tree as nested lists; equal for equal code."""
    return _outline(ast.parse(source))


def _outline(node: Any) -> Any:
    if isinstance(node, ast.AST):
        fields = {name: value for name, value in ast.iter_fields(node) if name not in _LEFT_OUT}
        if isinstance(node, _BODIES) and ast.get_docstring(node, clean=False) is not None:
            fields["body"] = fields["body"][1:]
        inner = {name: _outline(value) for name, value in fields.items()}
        return [type(node).__name__, {n: v for n, v in inner.items() if v not in (None, [])}]
    if isinstance(node, list):
        return [_outline(item) for item in node if not _is_own_import(item)]
    return node if isinstance(node, str | int | float | bool | None) else repr(node)


def _is_own_import(node: Any) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith("harness.")
