"""Serves the OpenID and LDAP logins of an sso.yaml without Superset; runs with Superset's Python.

    login_driver.py SSO_YAML PORT

    GET /start                  redirects to the provider; the callback answers with the person in JSON
    GET /renewed                the person after another request to the provider, with the refresh token
    GET /known?subject=         the person of a directory without a password, in JSON
    GET /ldap?name=&password=   the person in JSON
Errors of a login are answers with status 403 and their class.
"""

import sys
from dataclasses import asdict
from pathlib import Path

from flask import Flask, jsonify, request
from werkzeug.serving import make_server

from tailrace.config import single_sign_on
from tailrace_sso.directory import Directory
from tailrace_sso.person import LoginError, Person
from tailrace_sso.provider import Provider

NAMES = ("name", "password")
tokens: dict[str, str] = {}
app = Flask(__name__)
app.secret_key = "only for tests"


def shown(person: Person):
    return jsonify({**asdict(person), "groups": sorted(person.groups)})


@app.errorhandler(LoginError)
def refused(error: LoginError):
    return type(error).__name__, 403


def serve(file: Path, port: int) -> None:
    settings = single_sign_on.load(file)
    provider = Provider(app, settings.oidc, settings.address)

    def directory() -> Directory:
        return Directory(single_sign_on.load(file).ldap)  # a test changes the file

    def finish():
        person, found = provider.finish()
        tokens.update(refresh=found["refresh_token"], subject=person.subject.split(" ", 1)[1])
        return shown(person)

    def renewed():
        person, found = provider.renewed(tokens["refresh"], tokens["subject"])
        tokens["refresh"] = found["refresh_token"]
        return shown(person)

    app.add_url_rule("/start", "start", provider.start)
    app.add_url_rule(single_sign_on.CALLBACK, "finish", finish)
    app.add_url_rule("/renewed", "renewed", renewed)
    app.add_url_rule("/ldap", "ldap", lambda: shown(directory().log_in(*map(request.args.get, NAMES))))
    app.add_url_rule("/known", "known", lambda: shown(directory().renewed(request.args["subject"])))
    make_server("127.0.0.1", port, app).serve_forever()


serve(Path(sys.argv[1]), int(sys.argv[2]))
