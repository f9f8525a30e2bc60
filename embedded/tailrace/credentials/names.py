"""The names of secrets: a secret is a file of this name in the home directory or in a mounted directory."""


def password_name(user: str) -> str:
    """The name of the password of a ClickHouse user, such as `clickhouse-reader_developer`.

    The users are those of sql/users/users.xml.template.
    """
    return f"clickhouse-{user}"
