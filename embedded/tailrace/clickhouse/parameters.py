"""Values of the parameters of queries, `{name:Type}`, in the notation of ClickHouse's HTTP interface.

ClickHouse reads the text of a parameter like a field of a file with tabs: with escapes, and with arrays in
brackets.
"""

from collections.abc import Mapping
from typing import Any

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0", "'": "\\'"})


def encoded(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Returns the text of each value: text, a number, or a list of them."""
    return {name: encoded_value(value) for name, value in parameters.items()}


def encoded_value(value: Any) -> str:
    """Returns the text of one value."""
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_element, value))}]"
    return str(value).translate(_ESCAPES)


def _element(value: Any) -> str:
    return str(value) if isinstance(value, int | float) else f"'{str(value).translate(_ESCAPES)}'"
