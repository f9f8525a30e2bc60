"""A small client for Superset's REST interface."""

import http.cookiejar
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from tailrace.errors import ReportedError

TIMEOUT_SECONDS = 120
PAGE_SIZE = 100
"""The largest page that Superset returns."""
EXPIRED = "Token has expired"


class SupersetError(ReportedError):
    """Superset refused a request; the message contains its response, by file if it refers to files.

    `status` is the HTTP status.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """A session of one user. Raises SupersetError if the login is refused, OSError without a response."""

    def __init__(self, url: str, user: str, password: str, tls: ssl.SSLContext | None = None) -> None:
        self.url = url
        # The CSRF token is bound to the session cookie.
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(cookies, urllib.request.HTTPSHandler(context=tls))
        self._login = json.dumps(
            {"username": user, "password": password, "provider": "db", "refresh": False}
        ).encode()
        self._log_in()

    def _log_in(self) -> None:
        self._headers: dict[str, str] = {}
        token = self._json("/api/v1/security/login", self._login)["access_token"]
        self._headers = {"Authorization": f"Bearer {token}", "Referer": self.url}
        self._headers["X-CSRFToken"] = self._forgery_token()

    def _forgery_token(self) -> str:
        return self._json("/api/v1/security/csrf_token/")["result"]

    def import_assets(self, bundle: bytes, passwords: Mapping[str, str]) -> None:
        """Imports a bundle of assets, overwriting existing ones. `passwords`: file of a database → its
        password."""
        boundary = uuid.uuid4().hex
        body = _form(boundary, bundle, {"passwords": json.dumps(passwords)})
        try:
            self._request("/api/v1/assets/import/", body, f"multipart/form-data; boundary={boundary}")
        except SupersetError as error:  # 6.1.0 does not return the reason
            raise SupersetError(
                f"{error}; its log names the file: tailrace logs superset", error.status
            ) from None

    def export_assets(self) -> bytes:
        """Returns every asset of this Superset as a zip file."""
        return self._request("/api/v1/assets/export/")

    def charts_of_dataset(self, uuid_: str) -> int:
        """Returns the number of charts of a dataset."""
        return self._json(f"/api/v1/dataset/{uuid_}/related_objects")["charts"]["count"]

    def delete(self, resource: str, uuid_: str) -> None:
        """Deletes a `chart`, `dashboard` or `dataset`."""
        number = self._json(f"/api/v1/{resource}/{uuid_}")["result"]["id"]
        self.remove(f"/api/v1/{resource}/{number}")

    def get(self, path: str) -> dict[str, Any]:
        return self._json(path)

    def every(self, path: str, columns: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """Yields every item of a paged list, with the given columns; with all by default."""
        page = 0
        while True:
            wanted = {"page": page, "page_size": PAGE_SIZE, **({"columns": columns} if columns else {})}
            found = self._json(f"{path}?q={urllib.parse.quote(json.dumps(wanted))}")["result"]
            yield from found
            if len(found) < PAGE_SIZE:
                return
            page += 1

    def post(self, path: str, content: Mapping[str, Any]) -> dict[str, Any]:
        return self._json(path, json.dumps(content).encode())

    def put(self, path: str, content: Mapping[str, Any]) -> dict[str, Any]:
        return self._json(path, json.dumps(content).encode(), "PUT")

    def remove(self, path: str) -> None:
        self._request(path, method="DELETE")

    def _json(self, path: str, body: bytes | None = None, method: str | None = None) -> dict[str, Any]:
        return json.loads(self._request(path, body, "application/json", method))

    def _request(
        self,
        path: str,
        body: bytes | None = None,
        content_type: str | None = None,
        method: str | None = None,
    ) -> bytes:
        """Sends a request; logs in again if the login has expired, which happens after 15 minutes."""
        try:
            return self._asked(path, body, content_type, method)
        except SupersetError as error:
            if error.status != HTTPStatus.UNAUTHORIZED or EXPIRED not in str(error):
                raise
        self._log_in()
        return self._asked(path, body, content_type, method)

    def _asked(self, path: str, body: bytes | None, content_type: str | None, method: str | None) -> bytes:
        headers = {**self._headers, "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = content_type
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with self._opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            response = _describe(error.read())
            raise SupersetError(f"{path}: HTTP {error.code}: {response}", error.code) from None


def _form(boundary: str, bundle: bytes, fields: Mapping[str, str]) -> bytes:
    """Builds a multipart/form-data body: fields, then the bundle."""
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="bundle"; filename="bundle.zip"\r\n'
        "Content-Type: application/zip\r\n\r\n"
    )
    return b"".join(parts) + head.encode() + bundle + f"\r\n--{boundary}--\r\n".encode()


def _describe(body: bytes) -> str:
    """Shortens Superset's error body to its messages, followed by those about each file."""
    try:
        error = json.loads(body)
    except ValueError:
        return body[:500].decode(errors="replace")
    lines = []
    for each in error.get("errors", [error]):
        lines.append(str(each.get("message", each)))
        about_files = {
            name: response for name, response in (each.get("extra") or {}).items() if name != "issue_codes"
        }
        lines += [f"{file}: {json.dumps(response)}" for file, response in about_files.items()]
    return "\n".join(lines)
