"""Superset's security manager without a local login for users of a server."""

import logging
from typing import Any

from flask import request
from superset.security import SupersetSecurityManager

from tailrace_sso import accounts
from tailrace_sso.person import MAX_NAME

_log = logging.getLogger(__name__)


class SecurityManager(SupersetSecurityManager):
    """A user of a server could set a password in Superset and use it when no group has a role any more."""

    def auth_user_db(self, username: str, password: str) -> Any:
        """Logs refused logins: Superset silences Flask-AppBuilder, which would."""
        user = super().auth_user_db(username, password)
        if user and not accounts.is_of_server(self, user):
            return user
        _log.warning("local login of %r from %s refused", str(username)[:MAX_NAME], request.remote_addr)
        return None
