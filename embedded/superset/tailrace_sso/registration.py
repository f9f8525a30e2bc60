"""Adds the login by servers and the limits of sessions to Superset. superset_config.py calls `register`."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from flask import Flask, current_app, g, redirect, request, session
from flask_login import current_user, logout_user, user_logged_in, user_logged_out

from tailrace.config import single_sign_on
from tailrace.config.single_sign_on import Sessions as Limits
from tailrace.config.single_sign_on import SingleSignOn
from tailrace_sso import accounts, addresses, sessions, views
from tailrace_sso.directory import NAME as LDAP
from tailrace_sso.directory import Directory
from tailrace_sso.person import RevokedError
from tailrace_sso.provider import NAME as OIDC
from tailrace_sso.provider import Provider

LOGOUT = "/logout/"
LOCAL_LOGIN = "/login/"
STATIC = ("static", "appbuilder.static", "tailrace_pages.static_file")
"""Endpoints that show the same to everybody, so a session is not verified for them."""


def register(app: Flask, home: Path, redis_url: str) -> None:
    """Adds the pages and the checks. SUPERSET_SSO_FILE names sso.yaml; without it users are local ones only.

    Raises ConfigurationError for an error in sso.yaml.
    """
    from superset import security_manager

    file = os.environ.get("SUPERSET_SSO_FILE", "")
    settings = single_sign_on.load(Path(file)) if file else None
    limits = settings.sessions if settings else Limits()
    store = sessions.Store(_cache(home, redis_url, limits), app.config["SECRET_KEY"], limits)
    servers = _Servers(app, security_manager, settings)
    guard = sessions.Guard(store, limits, servers.checked)
    _keep_records(app, guard, store)
    app.before_request(_Requests(guard, store, servers).before)
    if settings:
        pages = views.blueprint(servers.accounts, servers.provider, servers.directory)
        if security_manager.is_auth_limited:
            security_manager.limiter.limit(security_manager.auth_rate_limit, methods=["POST"])(pages)
        app.register_blueprint(pages)
    create_tables()


def create_tables() -> None:
    """Creates the table of identities in a database that has Superset's tables."""
    from sqlalchemy import inspect
    from superset import db, security_manager

    if inspect(db.engine).has_table(security_manager.user_model.__tablename__):
        accounts.create_table(db.engine)


def _cache(home: Path, redis_url: str, limits: Limits) -> sessions.Cache:
    if not redis_url:
        return sessions.files(home / "sessions", limits)
    from cachelib import RedisCache
    from redis import Redis

    return RedisCache(
        Redis.from_url(redis_url), key_prefix="tailrace-session-", default_timeout=limits.lifetime
    )


class _Servers:
    """The servers of sso.yaml, for the pages and for the checks of running sessions."""

    def __init__(self, app: Flask, security: Any, settings: SingleSignOn | None) -> None:
        self._security = security
        self.accounts = accounts.Accounts(security, settings) if settings else None
        self.provider = Provider(app, settings.oidc, settings.address) if settings and settings.oidc else None
        self.directory = Directory(settings.ldap) if settings and settings.ldap else None

    def checked(self, record: sessions.Record) -> sessions.Record:
        """Gives the user of a session the roles of the present groups. Raises LoginError if it must end."""
        user = self._security.get_user_by_id(record.user_id)
        if user is None or self.accounts is None:
            raise RevokedError("Your login is no longer configured.")
        if record.provider == LDAP and self.directory:
            self.accounts.renew(user, self.directory.renewed(record.subject))
            return record
        if record.provider == OIDC and self.provider and record.refresh_token:
            person, tokens = self.provider.renewed(record.refresh_token, record.subject.split(" ", 1)[1])
            self.accounts.renew(user, person)
            kept = {name: tokens.get(name) or getattr(record, name) for name in ("refresh_token", "id_token")}
            return replace(record, **kept)
        raise RevokedError("Your groups can only be read by a new login.")


def _keep_records(app: Flask, guard: sessions.Guard, store: sessions.Store) -> None:
    """A record begins and ends with each login, by whatever page."""

    def began(_app: Flask, user: Any) -> None:
        session[sessions.KEY] = guard.began(user.id, **g.pop("tailrace_login", {}))
        session.pop("csrf_token", None)  # one from before the login may be known to others

    def ended(_app: Flask, **_: Any) -> None:
        store.remove(session.pop(sessions.KEY, ""))

    user_logged_in.connect(began, app, weak=False)
    user_logged_out.connect(ended, app, weak=False)


class _Requests:
    def __init__(self, guard: sessions.Guard, store: sessions.Store, servers: _Servers) -> None:
        self._guard = guard
        self._store = store
        self._servers = servers
        self._has_servers = bool(servers.provider or servers.directory)

    def before(self) -> Any:
        """before_request: verifies the session, and shows the login of the servers in place of Superset's."""
        if request.endpoint in STATIC:
            return None
        if "_user_id" in session and (answer := self._session()) is not None:
            return answer
        is_login = request.method == "GET" and request.path == LOCAL_LOGIN and "local" not in request.args
        if self._has_servers and is_login and not current_user.is_authenticated:
            return redirect(f"{request.script_root}{addresses.PAGE}?{request.query_string.decode()}")
        return None

    def _session(self) -> Any:
        try:
            record = self._guard.verify(session.get(sessions.KEY, ""), int(session["_user_id"]))
        except sessions.Ended as why:
            return self._ended(str(why))
        if request.path == LOGOUT and record.provider:
            return self._logged_out(record)
        return None

    def _ended(self, why: str) -> Any:
        """A page leads to the login; a request of a script goes on without a user, and is refused."""
        logout_user()
        session.clear()
        if request.method != "GET" or "text/html" not in request.accept_mimetypes.values():
            return None
        if self._has_servers:
            session["tailrace_ended"] = why
        return redirect(current_app.appbuilder.get_url_for_login_with(request.script_root + _path()))

    def _logged_out(self, record: sessions.Record) -> Any:
        """Ends the session here, and at the OpenID provider."""
        logout_user()
        session.clear()
        target = None
        if record.provider == OIDC and self._servers.provider:
            target = self._servers.provider.logout_address(record.id_token, addresses.PAGE)
        return redirect(target or request.script_root + addresses.PAGE)


def _path() -> str:
    return "/" if request.path == LOGOUT else request.full_path.rstrip("?")
