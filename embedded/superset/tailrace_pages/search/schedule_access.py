"""Tells the scheduled searches which accounts of Superset may schedule searches now.

A thread of the server does so every minute, from the first request on: programs that only load Superset's
application start none.
"""

import logging
import threading
from collections.abc import Collection
from typing import Any

from flask import Flask

from tailrace.search.scheduled import access
from tailrace_pages import analyst
from tailrace_pages.search import asking
from tailrace_pages.viewer import AUDIENCES, bundles_of

EVERY_SECONDS = 60
BUNDLE = "schedule_searches"

_log = logging.getLogger(__name__)


def register(app: Flask) -> None:
    """Starts the thread with the first request, if Superset has the account that writes."""
    if analyst.is_there():
        app.before_request(_Watch(app).start)


class _Watch:
    def __init__(self, app: Flask) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._is_started = False
        self._problem = ""

    def start(self) -> None:
        """before_request: starts the thread once."""
        with self._lock:
            if self._is_started:
                return
            self._is_started = True
        threading.Thread(target=self._run, name="schedule-access", daemon=True).start()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            self._pass()
            pause.wait(EVERY_SECONDS)

    def _pass(self) -> None:
        try:
            with self._app.app_context():
                access.suspend(analyst.clickhouse(), accounts, _log.warning)
            problem = ""
        except Exception as error:  # of either database: the next pass may succeed
            problem = f"schedules of people without the role cannot be suspended: {error}"
        if problem and problem != self._problem:
            _log.error(problem)
        self._problem = problem


def accounts(names: Collection[str]) -> dict[str, set[str]]:
    """Returns the active accounts with these names, with the roles in which they may schedule searches.

    Needs the context of the application.
    """
    from superset import db, security_manager

    model = security_manager.user_model
    found = db.session.query(model).filter(model.username.in_(list(names)), model.active.is_(True))
    return {user.username: _roles(security_manager.get_user_roles(user)) for user in found}


def _roles(held: Collection[Any]) -> set[str]:
    if BUNDLE not in bundles_of(role.id for role in held):
        return set()
    return {asking.ROLES[AUDIENCES[role.name]].name for role in held if role.name in AUDIENCES}
