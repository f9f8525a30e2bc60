"""The style that keeps Superset's menu in one line (embedded/superset/tailrace_menu.py)."""

from types import SimpleNamespace

import tailrace_menu
from jinja2 import DictLoader, Environment


def test_each_page_has_the_style_and_other_templates_stay():
    page = "{% include 'head_custom_extra.html' %} {% include 'other.html' %}"
    given = DictLoader({"head_custom_extra.html": "", "other.html": "other", "page.html": page})
    app = SimpleNamespace(jinja_loader=given)
    tailrace_menu.fit_menu(app)
    shown = Environment(loader=app.jinja_loader, autoescape=True).get_template("page.html").render()
    assert shown == f"<style>{tailrace_menu.STYLE}</style> other"
    assert "> .main-nav" in shown, "it is not escaped"
