"""Requests to services of AWS, and what their errors mean."""

import json
from collections.abc import Collection
from typing import Any

import botocore.exceptions
import botocore.parsers
from botocore import xform_name

from tailrace_pull import costs, json_text
from tailrace_pull.remote import (
    BinaryDataError,
    FileGoneError,
    PermissionMissingError,
    RemoteError,
    ThrottledError,
)

NO_CREDENTIALS = {
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
DENIED = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"}
THROTTLED = {"Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException"}
BINARY_CODE, BINARY_TEXT = "InvalidParameterValue", "binary data"
"""Code and a part of the message with which RDS refuses a portion, as users report it (aws/aws-cli#2197)."""
GONE = {"DBLogFileNotFoundFault", "DBLogFileNotFound", "ResourceNotFoundException"}


def with_plain_answers(client: Any, operation: str, members: Collection[str]) -> Any:
    """Returns the client, which gives these members of answers in JSON as they are, without a comparison
    with botocore's model: for events it takes four times as long as the parser of JSON."""

    def parse(response_dict: dict, customized_response_dict: dict, **_: object) -> None:
        if response_dict["status_code"] != 200:
            return
        try:
            body = json_text.loads(response_dict["body"])
            customized_response_dict.update({name: body.pop(name) for name in members if name in body})
            response_dict["body"] = json.dumps(body).encode()
        except (ValueError, AttributeError, TypeError):
            customized_response_dict.clear()  # botocore says what is wrong

    service = client.meta.service_model.service_id.hyphenize()
    client.meta.events.register(f"before-parse.{service}.{operation}", parse, f"plain-{operation}")
    return client


def ask(client: Any, operation: str, subject: str, **parameters: object) -> dict:
    """Sends a request with a client of boto3. `subject` is the server or log group, for messages. Raises
    RemoteError."""
    try:
        answer = getattr(client, xform_name(operation))(**parameters)
        _count(answer)
        return answer
    except botocore.exceptions.ClientError as error:
        _count(error.response)
        raise _classified(client.meta.service_model.service_name, operation, subject, error) from error
    except botocore.parsers.ResponseParserError as error:
        raise RemoteError(f"{operation} of {subject}: the answer cannot be decoded") from error
    except (botocore.exceptions.BotoCoreError, OSError) as error:
        raise _without_answer(operation, error) from error


def _count(answer: dict) -> None:
    """Counts an answer, and the requests that were repeated before it."""
    of = answer.get("ResponseMetadata", {})
    size = of.get("HTTPHeaders", {}).get("content-length", "")
    costs.count(1 + of.get("RetryAttempts", 0), int(size) if size.isdecimal() else 0)


def _classified(
    service: str, operation: str, subject: str, error: botocore.exceptions.ClientError
) -> RemoteError:
    code = error.response.get("Error", {}).get("Code", "")
    text = f"{operation} of {subject}: {code}: {error.response.get('Error', {}).get('Message', '')}"
    if code in GONE:
        return FileGoneError(text)
    if code == BINARY_CODE and BINARY_TEXT in text:
        return BinaryDataError(text)
    if code in THROTTLED:
        return ThrottledError(text)
    if code in DENIED:
        right = f"{service}:{operation}"
        return PermissionMissingError(f"{operation} of {subject}: the policy lacks {right}", right)
    if code in NO_CREDENTIALS:
        return PermissionMissingError(
            f"{operation} of {subject}: the credentials are expired or invalid ({code})"
        )
    return RemoteError(text)


def _without_answer(operation: str, error: Exception) -> RemoteError:
    if isinstance(
        error, botocore.exceptions.NoCredentialsError | botocore.exceptions.CredentialRetrievalError
    ):
        return PermissionMissingError(f"{operation}: no credentials found: {error}")
    return RemoteError(f"{operation}: no answer: {error}")
