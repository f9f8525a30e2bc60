"""Filters of the alert inbox that a user has saved, by name, in Superset's metadata database.

Its key-value store is there for every server of an installation, is in its backup, and needs no account that
can delete rows of ClickHouse. The key derives from the number of the user, so no one reads those of others.
"""

import uuid
from collections.abc import Mapping

from tailrace_pages.page_errors import BadAddressError

NAMESPACE = uuid.UUID("4e5c1d61-6a0f-4c0e-9a6b-0d2f5a1c7e19")
AT_MOST = 20
NAME_LENGTH = 60

WHAT = "alert filters"
"""A part of the stored key."""

Saved = dict[str, dict[str, str]]
"""The arguments of an address by the name of the filter."""


def with_one(saved: Saved, name: str, arguments: Mapping[str, str]) -> Saved:
    """Returns what is saved with this one, which replaces one of the same name. Raises BadAddressError."""
    name = " ".join(name.split())
    if not 1 <= len(name) <= NAME_LENGTH:
        raise BadAddressError(f"A name has 1 to {NAME_LENGTH} characters.")
    if name not in saved and len(saved) >= AT_MOST:
        raise BadAddressError(f"You have {AT_MOST} saved ones; remove one first.")
    return {**saved, name: dict(arguments)}


def load(user_id: int) -> Saved:
    from superset.daos.key_value import KeyValueDAO
    from superset.key_value.types import JsonKeyValueCodec, KeyValueResource

    return KeyValueDAO.get_value(KeyValueResource.APP, _key(user_id), JsonKeyValueCodec()) or {}


def store(user_id: int, saved: Saved) -> None:
    from superset import db
    from superset.daos.key_value import KeyValueDAO
    from superset.key_value.types import JsonKeyValueCodec, KeyValueResource

    KeyValueDAO.upsert_entry(KeyValueResource.APP, saved, JsonKeyValueCodec(), _key(user_id))
    db.session.commit()


def _key(user_id: int) -> uuid.UUID:
    return uuid.uuid5(NAMESPACE, f"{WHAT} of {user_id}")
