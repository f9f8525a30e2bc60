"""Superset's error pages without links to other hosts (embedded/superset/tailrace_error_pages.py)."""

import pytest
import tailrace_error_pages
from flask import Flask, Response, send_file

ICON = '<link rel="icon" href="/static/assets/e3bafb62eb2592c0bb0e.png"/>'
FONTS = (
    '<link rel="preconnect" href="https://fonts.example"/>'
    '<link href="//fonts.example/css2?family=Inter&display=swap" rel="stylesheet"/>'
)
PAGE = f"<head>{ICON}{{}}<style>p {{{{ color: red; }}}}</style></head><h1>Página no encontrada</h1>"


@pytest.fixture
def client(tmp_path):
    app = Flask("superset")
    file = tmp_path / "404.html"
    file.write_text(PAGE.format(FONTS))
    app.add_url_rule("/<int:status>", view_func=lambda status: (send_file(file), status), endpoint="file")
    app.add_url_rule("/own", view_func=lambda: Response(FONTS, 404, mimetype="text/html"), endpoint="own")
    app.after_request(tailrace_error_pages.without_other_hosts)
    return app.test_client()


@pytest.mark.parametrize("status", [404, 500])
def test_an_error_page_links_only_this_server(client, status):
    answer = client.get(f"/{status}")
    assert (answer.status_code, answer.text) == (status, PAGE.format(""))
    assert answer.content_length == len(answer.data)


def test_other_answers_stay(client):
    assert client.get("/200").text == PAGE.format(FONTS)
    assert client.get("/own").text == FONTS
