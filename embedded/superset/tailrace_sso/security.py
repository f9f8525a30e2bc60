"""Superset's security manager without a local login for users of a server."""

from typing import Any

from superset.security import SupersetSecurityManager

from tailrace_sso import accounts


class SecurityManager(SupersetSecurityManager):
    """A user of a server could set a password in Superset and use it when no group has a role any more."""

    def auth_user_db(self, username: str, password: str) -> Any:
        user = super().auth_user_db(username, password)
        return None if user and accounts.is_of_server(self, user) else user
