"""Formats names of accounts. Standard library only: the dashboards import this module too."""


def account(user: object, host: object) -> str:
    """Formats an account as `'app'@'10.%'`; a MariaDB role, which has no host, as `'auditor'`."""
    quoted = quote(user)
    return f"{quoted}@{quote(host)}" if host not in ("", None) else quoted


def quote(name: object) -> str:
    """Returns a name in single quotes, with quotes in it doubled."""
    return "'{}'".format(str(name).replace("'", "''"))
