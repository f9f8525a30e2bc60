"""OpenID Connect: the code flow with PKCE, state and nonce, by Authlib.

The provider's metadata and keys are read at the first login, so Superset starts without the provider.
"""

import logging
from collections.abc import Mapping
from typing import Any

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import OAuth
from authlib.oauth2.rfc6749 import OAuth2Token
from flask import Flask
from joserfc.errors import JoseError

from tailrace.config.single_sign_on import CALLBACK, Oidc
from tailrace_sso.person import LoginError, Person, RevokedError, UnreachableError, checked_name, groups_of

NAME = "oidc"
TIMEOUT_SECONDS = 10
SIGNATURES = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)
"""Accepted algorithms of ID tokens: those with a public key, so neither `none` nor one with the secret."""

_log = logging.getLogger(__name__)


class Provider:
    """The OpenID provider of sso.yaml. Methods raise UnreachableError without an answer, else LoginError."""

    def __init__(self, app: Flask, settings: Oidc, address: str) -> None:
        self._settings = settings
        self._address = address
        self._client = OAuth(app).register(
            NAME,
            client_id=settings.client_id,
            client_secret=settings.secret(),
            server_metadata_url=f"{settings.issuer}/.well-known/openid-configuration",
            client_kwargs={
                "scope": " ".join(settings.scopes),
                "code_challenge_method": "S256",
                "default_timeout": TIMEOUT_SECONDS,
                **({"verify": str(settings.ca_file)} if settings.ca_file else {}),
            },
        )

    @property
    def title(self) -> str:
        return self._settings.title

    def start(self) -> Any:
        """Returns the redirect to the provider. Stores state, nonce and the PKCE verifier in the session."""
        with _failures():
            self._metadata()
            return self._client.authorize_redirect(self._address + CALLBACK)

    def finish(self) -> tuple[Person, Mapping[str, Any]]:
        """Reads the provider's answer from the address of this request. Returns the person and the tokens."""
        with _failures():
            self._metadata()
            tokens = self._client.authorize_access_token()
            if not tokens.get("userinfo"):
                raise LoginError("The provider sent no ID token.")
            return self._person(tokens, tokens["userinfo"]), tokens

    def renewed(self, refresh_token: str, subject: str) -> tuple[Person, Mapping[str, Any]]:
        """Returns the person as the provider knows it now. Raises RevokedError if it ended the login."""
        with _failures(RevokedError):
            self._metadata()
            tokens = self._client.fetch_access_token(grant_type="refresh_token", refresh_token=refresh_token)
            claims = self._client.parse_id_token(tokens, nonce=None) if "id_token" in tokens else {}
            person = self._person(tokens, {**claims, "sub": subject}, claims.get("sub", subject))
            return person, {"refresh_token": refresh_token, **tokens}

    def logout_address(self, id_token: str, after: str) -> str | None:
        """Returns where a browser ends the provider's session; None if the provider has no such address."""
        try:
            with _failures():
                metadata = self._metadata()
        except LoginError:
            return None
        if not metadata.get("end_session_endpoint"):
            return None
        return self._client.create_logout_url(
            post_logout_redirect_uri=self._address + after,
            id_token_hint=id_token or None,
            client_id=self._settings.client_id,
        )["url"]

    def _metadata(self) -> dict[str, Any]:
        metadata = self._client.load_server_metadata()
        if metadata.get("issuer", "").rstrip("/") != self._settings.issuer:
            metadata.pop("_loaded_at", None)  # read again at the next login
            raise LoginError(
                f"The provider names itself {metadata.get('issuer')!r}, sso.yaml another issuer."
            )
        offered = metadata.get("id_token_signing_alg_values_supported", ["RS256"])
        metadata["id_token_signing_alg_values_supported"] = [each for each in offered if each in SIGNATURES]
        return metadata

    def _person(
        self, tokens: Mapping[str, Any], claims: Mapping[str, Any], signed_subject: str = ""
    ) -> Person:
        """Joins the claims of the ID token and of the userinfo endpoint, which must name the same subject."""
        subject = claims["sub"]
        known = dict(claims)
        if "userinfo_endpoint" in self._client.server_metadata:
            known |= self._client.userinfo(token=OAuth2Token.from_dict(dict(tokens)))
        if known["sub"] != subject or signed_subject not in ("", subject):
            raise RevokedError("The provider's answers name two persons.")
        return Person(
            provider=NAME,
            subject=f"{self._settings.issuer} {subject}",
            name=checked_name(known.get(self._settings.name_claim)),
            groups=groups_of(known, self._settings.groups_claim),
            email=_text(known, "email"),
            first_name=_text(known, "given_name"),
            last_name=_text(known, "family_name"),
        )


class _failures:  # noqa: N801 - used like a function
    """Turns the errors of Authlib and its HTTP client into LoginError or the given subclass of it."""

    def __init__(self, refused: type[LoginError] = LoginError) -> None:
        self._refused = refused

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: Any, error: BaseException | None, _trace: Any) -> None:
        if isinstance(error, requests.RequestException) and not _is_refusal(error):
            _log.warning("the OpenID provider does not answer: %r", str(error))
            raise UnreachableError("The OpenID provider does not answer. Try again later.") from error
        if isinstance(error, (OAuthError, JoseError, requests.RequestException, KeyError, ValueError)):
            _log.warning("login refused: %r", str(error))
            raise self._refused("The OpenID provider did not confirm the login. Log in again.") from error


def _is_refusal(error: requests.RequestException) -> bool:
    """Whether the provider answered that the token is not or no longer valid."""
    return error.response is not None and 400 <= error.response.status_code < 500


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    return value[:64] if isinstance(value, str) and value.isprintable() else ""
