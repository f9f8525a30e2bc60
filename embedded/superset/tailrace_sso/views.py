"""The pages of the login: choice, OpenID Connect, LDAP, and the reason of a refusal."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from flask import Blueprint, Response, g, make_response, redirect, request, session
from flask_login import current_user, login_user
from flask_wtf.csrf import generate_csrf

from tailrace.config.single_sign_on import CALLBACK
from tailrace_pages import rendering
from tailrace_pages.viewer import with_policy
from tailrace_sso.accounts import Accounts, NoRoleError
from tailrace_sso.addresses import LOCAL, PAGE, safe_target
from tailrace_sso.directory import Directory
from tailrace_sso.person import LoginError, Person
from tailrace_sso.provider import Provider

_NEXT = "tailrace_next"
FORBIDDEN = 403


def blueprint(accounts: Accounts, provider: Provider | None, directory: Directory | None) -> Blueprint:
    """Returns the pages; those of a server that sso.yaml does not name do not exist."""
    pages = Blueprint("tailrace_sso", __name__)
    login = _Login(accounts, provider, directory)
    routes: list[tuple[str, str, Callable[[], Any]]] = [("GET", PAGE, login.choice)]
    if provider:
        routes += [("GET", f"{PAGE}oidc", login.start), ("GET", CALLBACK, login.finish)]
    if directory:
        routes.append(("POST", f"{PAGE}ldap", login.ldap))
    for method, path, view in routes:
        pages.add_url_rule(path, view.__name__, with_policy(_no_store(view)), methods=[method])
    return pages


class _Login:
    def __init__(self, accounts: Accounts, provider: Provider | None, directory: Directory | None) -> None:
        self._accounts = accounts
        self._provider = provider
        self._directory = directory

    def choice(self) -> Any:
        if current_user.is_authenticated:
            return redirect(safe_target(request.args.get("next", "")))
        return self._page()

    def start(self) -> Any:
        try:
            answer = self._provider.start()
        except LoginError as error:
            return self._page(str(error)), FORBIDDEN
        session[_NEXT] = safe_target(request.args.get("next", ""))
        return answer

    def finish(self) -> Any:
        target, kept = session.pop(_NEXT, "/"), {"id_token": ""}
        try:
            person, tokens = self._provider.finish()
            kept = {name: tokens.get(name) or "" for name in ("refresh_token", "id_token")}
            return self._enter(person, target, **kept)
        except LoginError as error:
            return self._refused(error, self._provider.logout_address(kept["id_token"], PAGE))

    def ldap(self) -> Any:
        given = request.form
        try:
            person = self._directory.log_in(given.get("username", ""), given.get("password", ""))
            return self._enter(person, safe_target(given.get("next", "")))
        except LoginError as error:
            return self._refused(error)

    def _enter(self, person: Person, target: str, **tokens: str) -> Any:
        user = self._accounts.enter(person)
        session.clear()  # what the browser had before the login is not part of the session
        g.tailrace_login = {"provider": person.provider, "subject": person.subject, **tokens}
        login_user(user, remember=False)
        return redirect(target, 303)

    def _refused(self, error: LoginError, logout: str | None = None) -> Any:
        """`logout` ends the provider's session, so that the person can log in with another account."""
        if isinstance(error, NoRoleError):
            return rendering.render_public(
                "login/no_role.html",
                "No access",
                sentence=str(error),
                held=sorted(error.person.groups),
                wanted=error.wanted,
                logout=logout,
            ), FORBIDDEN
        return self._page(str(error)), FORBIDDEN

    def _page(self, sentence: str = "") -> Response:
        target = safe_target(request.values.get("next", ""))
        return rendering.render_public(
            "login/choice.html",
            "Log in",
            sentence=sentence or session.pop("tailrace_ended", ""),
            oidc=self._provider and (self._provider.title, f"{PAGE}oidc?next={quote(target, safe='')}"),
            ldap=self._directory and (self._directory.title, f"{PAGE}ldap"),
            local=f"{LOCAL}&next={quote(target, safe='')}",
            next=target,
            csrf=generate_csrf,
        )


def _no_store(view: Callable[[], Any]) -> Callable[[], Any]:
    def answered() -> Any:
        answer = make_response(view())
        answer.headers["Cache-Control"] = "no-store"
        return answer

    answered.__name__ = view.__name__
    return answered
