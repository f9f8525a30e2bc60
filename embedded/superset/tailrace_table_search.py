"""Finds what somebody searches for in a table anywhere in a value, not at its beginning alone.

Superset 6.1.0's tables whose pages the server turns send a search as a filter `ILIKE 'text%'`, which a
query's `filter_values` takes for a value. superset_config.py calls `search_anywhere` before each request, and
`keep_patterns_from_queries` when the application starts.
"""

from collections.abc import Mapping
from functools import wraps
from typing import Any

PATTERN = "ILIKE"
_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\%_"})


def search_anywhere() -> None:
    """before_request: rewrites the search in a request for a chart's data. Flask keeps what it has parsed."""
    from flask import request

    if request.method == "POST" and request.endpoint == "ChartDataRestApi.data":
        widen(request.get_json(silent=True))


def widen(asked: Any) -> None:
    """Makes each search `text%` of a request `%text%`, with the special signs of a pattern as plain text.

    A chart's own filters stay as they are. So do the searches of dashboards' filters, which have no pages.
    """
    form = asked.get("form_data") if isinstance(asked, dict) else None
    if not (isinstance(form, dict) and form.get("server_pagination")):
        return
    own = [(each.get("subject"), each.get("comparator")) for each in form.get("adhoc_filters") or []]
    for query in asked.get("queries") or []:
        for each in query.get("filters") or []:
            if _is_search(each) and (each.get("col"), each["val"]) not in own:
                each["val"] = _anywhere(each["val"][:-1])


def _anywhere(text: str) -> str:
    """A pattern for text anywhere.

    Of two signs % in a row one is lost on the way to ClickHouse. A third means the same where none is lost.
    """
    plain = text.translate(_SPECIAL)
    return f"%{plain}%%" if plain.endswith("%") else f"%{plain}%"


def _is_search(each: Mapping[str, Any]) -> bool:
    text = each.get("val")
    return each.get("op") == PATTERN and isinstance(text, str) and text.endswith("%")


def keep_patterns_from_queries() -> None:
    """Has `filter_values` of a query's Jinja give values only: no value is equal to a pattern.

    A column that is searched keeps its filters: Superset would drop the search with what a query applies.
    """
    from superset.jinja_context import ExtraCache

    ask = ExtraCache.get_filters

    @wraps(ask)
    def values(cache, column: str, remove_filter: bool = False) -> list:
        found = ask(cache, column)
        equal = [each for each in found if each["op"] != PATTERN]
        return ask(cache, column, remove_filter) if equal == found else equal

    ExtraCache.get_filters = values
