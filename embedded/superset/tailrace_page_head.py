"""What Tailrace adds to the head of each page of Superset.

The style keeps the menu in one line of a window of 1,440 pixels. Superset 6.1.0 gives the menu two thirds of
the header. An administrator has 13 entries with the work pages, which need more: the menu would be below the
header, where the page covers it.

The script keeps a click on a link in a table from the table. Superset takes a click on any cell as a filter
for the other charts: it asked for all charts again, and the page of the link waited for their answers.

superset_config.py calls `extend_head` when the application starts.
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
SCRIPT = """
document.addEventListener('click', (event) => {
  if (event.target.closest?.('td a[href]')) event.stopPropagation();
}, true);
"""
"""The browser follows the link: only React, which listens below the document, does not see the click."""
TEMPLATE = "head_custom_extra.html"
"""Superset includes it in the head of each page, and its own one is empty."""


def extend_head(app: Any) -> None:
    """Adds style and script to each page of a Flask application with Superset's templates."""
    script = f'<script nonce="{{{{ csp_nonce() }}}}">{SCRIPT}</script>'
    own = DictLoader({TEMPLATE: f"<style>{STYLE}</style>{script}"})
    app.jinja_loader = ChoiceLoader([own, app.jinja_loader])
