"""S3-compatible storage in the layout of Amazon Security Lake, as Parquet or as gzip-compressed lines of
JSON.

    ext/SOURCE-KIND/region=REGION/accountId=ACCOUNT/eventDay=YYYYMMDD/NAME.parquet

Security Lake requires one source for each class of OCSF, so the kind of the records is part of its name. The
name of an object is a hash of the ids in it: the same batch is the same object. A batch that a restarted
process cuts otherwise repeats records with the same `metadata.uid`."""

import gzip
import hashlib
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tailrace.outputs.config import PARQUET, S3
from tailrace.outputs.http import encode, secret, shown
from tailrace.outputs.record import DELIVERED, FAILED, REFUSED, Outcome, Receiver, Record, all_of

TOO_LARGE = "EntityTooLarge"
HASH_DIGITS = 40


class S3Receiver(Receiver):
    """Delivers to one bucket: an object for each kind and day of a batch."""

    def __init__(self, to: S3) -> None:
        self._to = to
        self._made: tuple[str, object] = ("", None)
        """The client, with the keys that it has: to make one takes as long as many requests."""

    def send(self, records: Sequence[Record]) -> list[Outcome]:
        outcomes = all_of(records, Outcome(FAILED, "not sent"))
        places: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, record in enumerate(records):
            places[record.kind, _day(record)].append(number)
        for numbers in places.values():
            outcome = self._store([records[number] for number in numbers])
            for number in numbers:
                outcomes[number] = outcome
        return outcomes

    def _store(self, records: Sequence[Record]) -> Outcome:
        try:
            key, body = self.key(records), self._body(records)
            self._client().put_object(Bucket=self._to.bucket, Key=key, Body=body)
        except ClientError as error:
            code = error.response["Error"]["Code"]
            return Outcome(REFUSED if code == TOO_LARGE else FAILED, f"{code}: {error}"[:300])
        except (BotoCoreError, OSError, ValueError) as error:
            return Outcome(FAILED, str(error))
        return Outcome(DELIVERED, f"s3://{self._to.bucket}/{key}")

    def key(self, records: Sequence[Record]) -> str:
        """Returns the name of the object with these records, which have the same kind and day."""
        first, to = records[0], self._to
        name = hashlib.sha256("\n".join(record.id for record in records).encode()).hexdigest()[:HASH_DIGITS]
        ending = "parquet" if to.file == PARQUET else "json.gz"
        partition = f"region={to.region}/accountId={to.account_id}/eventDay={_day(first)}"
        return f"ext/{to.source}-{first.kind}/{partition}/{name}.{ending}"

    def _body(self, records: Sequence[Record]) -> bytes:
        if self._to.file == PARQUET:
            from tailrace.outputs import parquet  # pyarrow is optional

            return parquet.encoded([record.document for record in records])
        return gzip.compress(b"".join(encode(record.document) + b"\n" for record in records), 6, mtime=0)

    def _client(self) -> Any:
        """Returns a client. Without `secret_file` it uses the roles and variables of the environment."""
        given = secret(self._to.secret_file) if self._to.secret_file else ""
        if self._made[1] is None or self._made[0] != given:
            self._made = given, self._new_client(given)
        return self._made[1]

    def _new_client(self, given: str) -> Any:
        to = self._to
        keys = {}
        if to.secret_file:
            access, _, key = given.partition("\n")
            keys = {"aws_access_key_id": access.strip(), "aws_secret_access_key": key.strip()}
        # boto3 adds a checksum in a trailer to every request, which many compatible servers do not implement.
        checksums = "when_required" if to.url else "when_supported"
        config = Config(
            connect_timeout=to.timeout,
            read_timeout=to.timeout,
            retries={"max_attempts": 0},
            request_checksum_calculation=checksums,
            response_checksum_validation=checksums,
        )
        return boto3.client(
            "s3",
            region_name=to.region,
            endpoint_url=to.url or None,
            verify=str(to.ca_file) if to.ca_file else None,
            config=config,
            **keys,
        )

    def show(self, record: Record) -> str:
        where = f"s3://{self._to.bucket}/{self.key([record])}"
        return shown(where, encode(record.document)).removeprefix("POST ")


def _day(record: Record) -> str:
    return f"{datetime.fromtimestamp(record.millis / 1000, UTC):%Y%m%d}"
