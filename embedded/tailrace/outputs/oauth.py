"""Access tokens by OAuth 2.0, kept until shortly before they expire: Microsoft Entra and Google service
accounts."""

import base64
import json
import time
import urllib.parse
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tailrace.outputs.config import GoogleSecOps, Sentinel
from tailrace.outputs.http import Answer, HttpClient, encode, secret

EARLY_SECONDS = 120
GOOGLE_SCOPE = "https://www.googleapis.com/auth/malachite-ingestion"
AZURE_SCOPE = "https://monitor.azure.com//.default"
"""The resource https://monitor.azure.com/ with its slash, and the scope for all permissions of the
application."""
JWT_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
JWT_SECONDS = 3600
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Tokens(ABC):
    """`clock` returns seconds since 1970."""

    def __init__(self, client: HttpClient, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self.clock = clock
        self._token = ""
        self._expires = 0.0

    def headers(self) -> Mapping[str, str] | Answer:
        """Returns the header with a token, or the answer of the server that issued none.

        Raises OSError for an unreadable secret, ValueError for an invalid one.
        """
        if self.clock() >= self._expires - EARLY_SECONDS:
            url, form = self.request()
            answer = self._client.post(url, FORM, urllib.parse.urlencode(form).encode())
            if not self._accept(answer):
                # A refusal of the token must not look like a refusal of the records.
                return Answer(0, f"no access token: {answer.text}".encode(), answer.retry_after)
        return {"Authorization": f"Bearer {self._token}"}

    def forget(self) -> None:
        """Asks for a new token before the next request."""
        self._expires = 0.0

    def _accept(self, answer: Answer) -> bool:
        found = answer.json()
        if answer.status != 200 or not isinstance(found, dict) or "access_token" not in found:
            return False
        self._token = str(found["access_token"])
        self._expires = self.clock() + float(found.get("expires_in", JWT_SECONDS))
        return True

    @abstractmethod
    def request(self) -> tuple[str, Mapping[str, str]]:
        """Returns the address and the form of the request for a token."""


class EntraTokens(Tokens):
    """Tokens of an application of Microsoft Entra, by its client secret."""

    def __init__(self, to: Sentinel, client: HttpClient, clock: Callable[[], float] = time.time) -> None:
        super().__init__(client, clock)
        self._to = to

    def request(self) -> tuple[str, Mapping[str, str]]:
        return f"{self._to.login_url}/{self._to.tenant}/oauth2/v2.0/token", {
            "grant_type": "client_credentials",
            "client_id": self._to.client_id,
            "client_secret": secret(self._to.secret_file),
            "scope": AZURE_SCOPE,
        }


class GoogleTokens(Tokens):
    """Tokens of a service account of Google, by a signed assertion (RFC 7523)."""

    def __init__(self, to: GoogleSecOps, client: HttpClient, clock: Callable[[], float] = time.time) -> None:
        super().__init__(client, clock)
        self._to = to

    def request(self) -> tuple[str, Mapping[str, str]]:
        account = json.loads(secret(self._to.secret_file))
        try:
            url, key = account["token_uri"], account["private_key"]
            issued = int(self.clock())
            claims = {"iss": account["client_email"], "scope": GOOGLE_SCOPE, "aud": url}
        except (KeyError, TypeError) as error:
            raise ValueError("not the key file of a service account") from error
        times = {"iat": issued, "exp": issued + JWT_SECONDS}
        return url, {"grant_type": JWT_GRANT, "assertion": _signed({**claims, **times}, key)}


def _signed(claims: Mapping[str, object], key: str) -> str:
    """Returns a JSON Web Token with RS256. Raises ValueError for a key that is no RSA key."""
    private = serialization.load_pem_private_key(key.encode(), None)
    if not isinstance(private, rsa.RSAPrivateKey):
        raise ValueError("the private key must be an RSA key")
    text = b".".join(map(_base64, (encode({"alg": "RS256", "typ": "JWT"}), encode(claims))))
    signature = private.sign(text, padding.PKCS1v15(), hashes.SHA256())
    return b".".join((text, _base64(signature))).decode()


def _base64(content: bytes) -> bytes:
    return base64.urlsafe_b64encode(content).rstrip(b"=")
