"""Answers requests for Superset's scripts and styles: compressed once, and browsers keep them for good.

Superset 6.1.0 compresses a file for each request. Its answers vary by cookie, so that a browser asks for all
of them again after a login. Files whose names contain a hash of their content never change: they get
`immutable`, and depend on the accepted encodings only. Other files are answered by Superset.

superset_config.py adds `CompressedFiles` to ADDITIONAL_MIDDLEWARE.
"""

import gzip
import mimetypes
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

import brotli  # of flask-compress, which Superset requires

HASHED = re.compile(r"/static/assets/((?:[\w~-]+\.)?[0-9a-f]{20}\.(?:(?:entry|chunk)\.)?(?:js|css|woff2?))")
"""Paths of files with a hash in their name: 256 scripts and styles, and fonts."""
AGE_SECONDS = 365 * 24 * 3600
MAX_FILES = 400
"""Files in memory in one encoding; all scripts and styles of Superset take 10 MB."""
QUALITY = 5
"""Of Brotli: a tenth smaller than Zstandard at Superset's level; 6.5 MB take a quarter of a second, once."""
COMPRESSED = (".woff", ".woff2")
"""Suffixes of files that are compressed already."""


class CompressedFiles:
    """WSGI middleware."""

    def __init__(self, application: Callable, directory: Path | None = None) -> None:
        """`directory` is Superset's static/assets."""
        self._application = application
        self._directory = directory or _installed()

    def __call__(self, environ: dict, start_response: Callable) -> Iterable[bytes]:
        found = HASHED.fullmatch(environ.get("PATH_INFO", ""))
        method = environ.get("REQUEST_METHOD")
        if not found or method not in ("GET", "HEAD") or not (self._directory / found[1]).is_file():
            return self._application(environ, start_response)
        name, tag = found[1], f'"{found[1]}"'
        if tag in environ.get("HTTP_IF_NONE_MATCH", ""):
            start_response("304 Not Modified", [("ETag", tag), *_CACHED])
            return [b""]
        encoding = encoding_of(name, environ.get("HTTP_ACCEPT_ENCODING", ""))
        body = encoded(self._directory / name, encoding)
        headers = [
            ("Content-Type", mimetypes.guess_type(name)[0] or "application/octet-stream"),
            ("Content-Length", str(len(body))),
            ("ETag", tag),
            ("X-Content-Type-Options", "nosniff"),
            *([("Content-Encoding", encoding)] if encoding else []),
            *_CACHED,
        ]
        start_response("200 OK", headers)
        return [body if method == "GET" else b""]


_CACHED = (
    ("Cache-Control", f"public, max-age={AGE_SECONDS}, immutable"),
    ("Vary", "Accept-Encoding"),
)


def encoding_of(name: str, accepted: str) -> str:
    """Returns `br`, `gzip` or the empty string, by the header Accept-Encoding. A weight of 0 refuses one."""
    if name.endswith(COMPRESSED):
        return ""
    weights = dict(_weight(each) for each in accepted.lower().split(","))
    return next((each for each in ("br", "gzip") if weights.get(each)), "")


def _weight(item: str) -> tuple[str, float]:
    name, _, weight = item.partition(";q=")
    try:
        return name.strip(), float(weight or 1)
    except ValueError:
        return name.strip(), 0.0


@lru_cache(maxsize=MAX_FILES)
def encoded(file: Path, encoding: str) -> bytes:
    content = file.read_bytes()
    if encoding == "br":
        return brotli.compress(content, quality=QUALITY)
    return gzip.compress(content, mtime=0) if encoding == "gzip" else content


def _installed() -> Path:
    import superset

    return Path(superset.__file__).parent / "static" / "assets"
