"""The records of sessions: Superset's cookie is only valid as long as the server has its record.

Without them a cookie stays valid after a logout, for a month. A record is a file, or an entry in Redis if
several servers share it. Tokens of an OpenID provider are encrypted in it with a key from Superset's own.
"""

import json
import logging
import secrets
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from cryptography.fernet import Fernet, InvalidToken

from tailrace.config.single_sign_on import Sessions as Limits
from tailrace_sso.person import LoginError, UnreachableError

KEY = "tailrace_session"
"""The id of the record, in the session cookie."""
SEEN_SECONDS = 60
"""A record is written again at most once in this time."""
RETRY_SECONDS = 30
"""Between two attempts to reach a server that does not answer."""
POLL_SECONDS = 0.05
MAX_FAILED_CHECKS = 3
"""A session ends if its server did not answer for this multiple of `recheck`."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Record:
    """One session. Times are in seconds since 1970."""

    user_id: int
    began: float
    seen: float
    checked: float
    provider: str = ""
    """`oidc`, `ldap`, or empty for a local user."""
    subject: str = ""
    refresh_token: str = ""
    id_token: str = ""
    tried: float = 0
    """When the server last failed to answer; 0 after an answer."""


class Cache(Protocol):
    """The part of cachelib's caches that is used."""

    def get(self, key: str) -> Any: ...

    def set(self, key: str, value: str, timeout: int) -> Any: ...

    def add(self, key: str, value: str, timeout: int) -> Any:
        """Stores a value unless there is one. Returns whether it did."""

    def delete(self, key: str) -> Any: ...


class Store:
    """Records by id."""

    def __init__(self, cache: Cache, secret_key: str, limits: Limits) -> None:
        self._cache = cache
        self._fernet = Fernet(urlsafe_b64encode(sha256(b"tailrace sessions " + secret_key.encode()).digest()))
        self._limits = limits
        self._lock = threading.Lock()

    def add(self, record: Record) -> str:
        """Stores a new session and returns its random id."""
        id_ = secrets.token_urlsafe(32)
        self.put(id_, record)
        return id_

    def put(self, id_: str, record: Record) -> None:
        content = self._fernet.encrypt(json.dumps(asdict(record)).encode())
        self._cache.set(_name(id_), content.decode(), timeout=self._limits.lifetime)

    def get(self, id_: str) -> Record | None:
        content = self._cache.get(_name(id_))
        try:
            return Record(**json.loads(self._fernet.decrypt(content.encode()))) if content else None
        except (InvalidToken, AttributeError, ValueError, TypeError):  # written with another key or by others
            return None

    def remove(self, id_: str) -> None:
        self._cache.delete(_name(id_))

    def claim(self, id_: str) -> bool:
        """Returns True to one of several requests at the same time: a refresh token may be used only once."""
        with self._lock:
            return bool(self._cache.add(f"check-{_name(id_)}", "1", timeout=RETRY_SECONDS))

    def release(self, id_: str) -> None:
        self._cache.delete(f"check-{_name(id_)}")


def _name(id_: str) -> str:
    """The name in the cache, from which a reader of the files or of Redis cannot derive the id."""
    return sha256(id_.encode()).hexdigest()


def files(directory: Path, limits: Limits) -> Cache:
    """Returns a cache of files that only this user can read, with as many records as there are sessions."""
    from cachelib import FileSystemCache

    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file in directory.iterdir():  # the cache removes an old record only when it is read
        if file.stat().st_mtime < time.time() - limits.lifetime:
            file.unlink(missing_ok=True)
    return FileSystemCache(str(directory), threshold=0, default_timeout=limits.lifetime, mode=0o600)


class Ended(Exception):  # noqa: N818 - no error: sessions end
    """The session has ended; the message is a sentence for its user."""


class Guard:
    """Decides for each request whether its session goes on."""

    def __init__(
        self,
        store: Store,
        limits: Limits,
        check: Callable[[Record], Record],
        clock: Callable[[], float] = time.time,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`check` reads the groups again, gives the roles, and returns the record with new tokens."""
        self._store = store
        self._limits = limits
        self._check = check
        self._clock = clock
        self._pause = pause

    def began(self, user_id: int, **more: str) -> str:
        """Stores the record of a new session and returns its id."""
        now = self._clock()
        return self._store.add(Record(user_id, now, now, now, **more))

    def verify(self, id_: str, user_id: int) -> Record:
        """Returns the record of a session that goes on. Raises Ended, and the record is then gone."""
        try:
            record = self._verified(id_, self._store.get(id_), user_id)
        except Ended:
            self._store.remove(id_)
            raise
        return record

    def _verified(self, id_: str, record: Record | None, user_id: int) -> Record:
        now = self._clock()
        if record is None or record.user_id != user_id:
            raise Ended("Your session has ended. Log in again.")
        if now - record.seen > self._limits.idle or now - record.began > self._limits.lifetime:
            raise Ended("Your session has ended after the time that the administrator has set. Log in again.")
        if record.provider and now - record.checked >= self._limits.recheck:
            record = self._overdue(id_, record, now)
        elif now - record.seen >= SEEN_SECONDS:  # not during a check, whose new tokens it would overwrite
            record = replace(record, seen=now)
            self._store.put(id_, record)
        return record

    def _overdue(self, id_: str, record: Record, now: float) -> Record:
        """Reads the groups again by one request of several, unless the server has just failed to answer."""
        if now - record.tried >= min(RETRY_SECONDS, self._limits.recheck):
            if self._store.claim(id_):
                record = self._claimed(id_, record, now)
            elif self._is_unverified(record, now):
                record = self._awaited(id_, record)
        if self._is_unverified(record, now):
            raise Ended("Your session has ended, because the server with your groups does not answer.")
        return record

    def _claimed(self, id_: str, record: Record, now: float) -> Record:
        try:
            # Another request may have finished after this one read the record.
            record = self._store.get(id_) or record
            return (
                self._rechecked(id_, record, now) if now - record.checked >= self._limits.recheck else record
            )
        finally:
            self._store.release(id_)

    def _is_unverified(self, record: Record, now: float) -> bool:
        """Whether the groups are too old to answer, as in the first requests after a pause of the user."""
        return now - record.checked >= MAX_FAILED_CHECKS * self._limits.recheck

    def _awaited(self, id_: str, record: Record) -> Record:
        """Returns the record after the check by another request, which takes at most some timeouts."""
        for _ in range(int(RETRY_SECONDS / POLL_SECONDS)):
            found = self._store.get(id_)
            if found is None:
                raise Ended("Your session has ended. Log in again.")
            if (found.checked, found.tried) != (record.checked, record.tried):
                return found
            self._pause(POLL_SECONDS)
        return record

    def _rechecked(self, id_: str, record: Record, now: float) -> Record:
        try:
            record = replace(self._check(record), checked=now, tried=0, seen=now)
        except UnreachableError:
            record = replace(record, tried=now, seen=now)
        except LoginError as error:
            _log.warning("session of user %d ended: %s", record.user_id, error)
            raise Ended(f"{error} Your session has ended.") from None
        self._store.put(id_, record)
        return record
