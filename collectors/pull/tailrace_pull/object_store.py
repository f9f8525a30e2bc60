"""Objects below a prefix in Amazon S3 or a compatible store, Google Cloud Storage, or Azure Blob Storage.

Credentials come from the environment of each cloud, as its SDK reads it; for S3 from the chain of boto3.
"""

import re
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from typing import Any

import boto3
import botocore.exceptions
import obstore
from obstore import exceptions
from obstore.auth.boto3 import Boto3CredentialProvider
from obstore.store import AzureStore, GCSStore, S3Store

from tailrace_pull import costs
from tailrace_pull.objects import ChangedError, StoredObject
from tailrace_pull.remote import FileGoneError, PermissionMissingError, RemoteError, ThrottledError

S3, GOOGLE, AZURE = "s3", "gs", "az"
RIGHTS = {
    S3: {"list": "s3:ListBucket", "read": "s3:GetObject"},
    GOOGLE: {"list": "storage.objects.list", "read": "storage.objects.get"},
    AZURE: {"list": "Storage Blob Data Reader", "read": "Storage Blob Data Reader"},
}
"""The right that each request needs."""
STATUS = re.compile(r"status code: (\d{3})")
STATUSES: Mapping[type, int] = {
    exceptions.NotFoundError: 404,
    exceptions.PermissionDeniedError: 403,
    exceptions.UnauthenticatedError: 401,
}
MILLIS = 1000
LISTED_AT_ONCE = 1000
CLIENT = {"connect_timeout": "30s", "timeout": "300s"}
RETRIES = {
    "max_retries": 2,
    "retry_timeout": timedelta(seconds=30),
    "backoff": {
        "base": 2,
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=5),
    },
}


class ObjectStore:
    """The objects below a URL: `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX` or `az://CONTAINER/PREFIX`."""

    def __init__(self, url: str, region: str = "", account: str = "", endpoint: str = "") -> None:
        """`account` is the storage account of Azure. Raises ValueError."""
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in RIGHTS or not parts.netloc:
            raise ValueError(f"url must begin with s3://, gs:// or az:// and a name, not {url!r}")
        if (parts.scheme == AZURE) != bool(account):
            raise ValueError("`account` is required with az://, and with no other store")
        self._url, self._scheme = url, parts.scheme
        self._prefix = parts.path.strip("/")
        self._where = parts.scheme, parts.netloc, region, account, endpoint

    @property
    def can_grow(self) -> bool:
        """Whether a cloud appends to objects: diagnostic settings of Azure do."""
        return self._scheme == AZURE

    @cached_property
    def _store(self) -> Any:
        return _store(*self._where)

    def objects(self) -> Iterator[StoredObject]:
        """Yields all objects below the prefix. Raises RemoteError."""
        with self._errors("list"):
            for page in obstore.list(self._store, self._prefix or None, chunk_size=LISTED_AT_ONCE):
                costs.count(requests=1)
                for each in page:
                    modified = int(each["last_modified"].timestamp() * MILLIS)
                    yield StoredObject(each["path"], each["size"], modified, each["e_tag"] or "")

    def read(self, listed: StoredObject, start: int, end: int) -> bytes:
        """Reads bytes of the object as it was listed. Raises ChangedError, FileGoneError, RemoteError."""
        if start >= end:
            return b""
        options: Any = {"range": (start, end)} | ({"if_match": listed.tag} if listed.tag else {})
        with self._errors("read", listed.name):
            costs.count(requests=1)
            read = bytes(obstore.get(self._store, listed.name, options=options).bytes())
            costs.count(received=len(read))
            return read

    @contextmanager
    def _errors(self, request: str, name: str = "") -> Iterator[None]:
        what = f"{request} {name or self._url}"
        try:
            yield
        except exceptions.PreconditionError as error:
            raise ChangedError(what) from error
        except botocore.exceptions.NoCredentialsError as error:
            raise PermissionMissingError(f"{what}: {error}") from error
        except (exceptions.BaseError, OSError) as error:
            raise _classified(what, RIGHTS[self._scheme][request], error) from error


def _classified(what: str, right: str, error: Exception) -> RemoteError:
    """The library has classes for some statuses of some requests. The others are in its message."""
    found = STATUS.search(str(error))
    status = STATUSES.get(type(error), int(found[1]) if found else 0)
    if status == 404:
        return FileGoneError(f"{what}: it does not exist")
    if status == 403:
        return PermissionMissingError(f"{what}: the policy lacks {right}", right)
    if status == 401:
        return PermissionMissingError(f"{what}: the credentials are expired, invalid or missing")
    if status in (429, 503):
        return ThrottledError(f"{what}: the store refused the request (status {status})")
    lines = str(error).strip().splitlines()
    return RemoteError(f"{what}: {lines[0] if lines else type(error).__name__}")


def _store(scheme: str, bucket: str, region: str, account: str, endpoint: str) -> Any:
    client: Any = {**CLIENT, "allow_http": endpoint.startswith("http://")}
    common: Any = {"client_options": client, "retry_config": RETRIES}
    if scheme == S3:
        session = boto3.Session(region_name=region or None)
        if session.get_credentials() is None:
            raise botocore.exceptions.NoCredentialsError
        amazon: Any = {"region": session.region_name or "us-east-1"}
        amazon |= {"endpoint": endpoint} if endpoint else {}
        return S3Store(bucket, config=amazon, credential_provider=Boto3CredentialProvider(session), **common)
    if scheme == GOOGLE:
        google: Any = {"base_url": endpoint} if endpoint else {}
        return GCSStore(bucket, config=google, **common)
    azure: Any = {"account_name": account} if account else {}
    return AzureStore(bucket, config=azure | ({"endpoint": endpoint} if endpoint else {}), **common)
