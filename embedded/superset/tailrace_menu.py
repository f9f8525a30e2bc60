"""Keeps Superset's menu in one line of a window of 1,440 pixels.

Superset 6.1.0 gives the menu two thirds of the header. An administrator has 13 entries with the work pages,
which need more: the menu would be below the header, where the page covers it. superset_config.py calls
`fit_menu` when the application starts.
"""

from typing import Any

from jinja2 import ChoiceLoader, DictLoader

STYLE = """
@media (min-width: 768px) {
  .ant-col:has(> .main-nav) { flex: 1 1 0; max-width: none; }
  .ant-col:has(> .main-nav) + .ant-col { flex: 0 0 auto; max-width: none; }
  .main-nav.ant-menu-horizontal > li:is(.ant-menu-item, .ant-menu-submenu) { padding-inline: 10px; }
}
"""
TEMPLATE = "head_custom_extra.html"
"""Superset includes it in the head of each page, and its own one is empty."""


def fit_menu(app: Any) -> None:
    """Adds the style to each page of a Flask application with Superset's templates."""
    own = DictLoader({TEMPLATE: f"<style>{STYLE}</style>"})
    app.jinja_loader = ChoiceLoader([own, app.jinja_loader])
