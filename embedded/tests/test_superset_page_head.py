"""Style and script in the head of each page of Superset (embedded/superset/tailrace_page_head.py)."""

from types import SimpleNamespace

import tailrace_page_head
from jinja2 import DictLoader, Environment


def test_each_page_has_style_and_script_and_other_templates_stay():
    page = "{% include 'head_custom_extra.html' %} {% include 'other.html' %}"
    given = DictLoader({"head_custom_extra.html": "", "other.html": "other", "page.html": page})
    app = SimpleNamespace(jinja_loader=given)
    tailrace_page_head.extend_head(app)
    environment = Environment(loader=app.jinja_loader, autoescape=True)
    environment.globals["csp_nonce"] = lambda: "once"
    shown = environment.get_template("page.html").render()
    script = f'<script nonce="once">{tailrace_page_head.SCRIPT}</script>'
    assert shown == f"<style>{tailrace_page_head.STYLE}</style>{script} other"
    assert "> .main-nav" in shown, "it is not escaped"
