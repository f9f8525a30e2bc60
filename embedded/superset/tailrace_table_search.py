"""Makes the search box of tables find a text anywhere in a value, not only at its beginning.

Tables with server-side pages of Superset 6.1.0 send a search as a filter `ILIKE 'text%'`, and `filter_values`
of a query returns this pattern like a value. superset_config.py calls `search_anywhere` before each request,
and `keep_patterns_from_queries` when the application starts.
"""

from collections.abc import Mapping
from functools import wraps
from typing import Any

PATTERN = "ILIKE"
_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\%_"})


def search_anywhere() -> None:
    """before_request: rewrites the search in a request for a chart's data. Flask keeps the parsed JSON."""
    from flask import request

    if request.method == "POST" and request.endpoint == "ChartDataRestApi.data":
        widen(request.get_json(silent=True))


def widen(asked: Any) -> None:
    """Replaces each search `text%` of a request by `%text%`, with the special characters of patterns escaped.

    A chart's own filters and searches in dashboards' filters, which have no pages, stay unchanged.
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
    """Returns a pattern that matches the text anywhere.

    The driver turns two adjacent % into one. A third one keeps the meaning, with and without that.
    """
    plain = text.translate(_SPECIAL)
    return f"%{plain}%%" if plain.endswith("%") else f"%{plain}%"


def _is_search(each: Mapping[str, Any]) -> bool:
    text = each.get("val")
    return each.get("op") == PATTERN and isinstance(text, str) and text.endswith("%")


def keep_patterns_from_queries() -> None:
    """Makes `filter_values` in the Jinja of queries return values only, without the patterns of searches.

    A column with a search keeps its filters, because Superset would remove the search together with the
    filter that the query applies.
    """
    from superset.jinja_context import ExtraCache

    ask = ExtraCache.get_filters

    @wraps(ask)
    def values(cache, column: str, remove_filter: bool = False) -> list:
        found = ask(cache, column)
        equal = [each for each in found if each["op"] != PATTERN]
        return ask(cache, column, remove_filter) if equal == found else equal

    ExtraCache.get_filters = values
