"""Texts that are taken out of answers without the parser are those that botocore's parser gives."""

import io
import random
from xml.sax.saxutils import escape

import boto3
import pytest
from botocore.awsrequest import AWSResponse

from tailrace_pull import aws
from tailrace_pull.rds import RdsLogs
from tailrace_pull.remote import RemoteError

SEEDS = 300
ANSWER = (
    "<DownloadDBLogFilePortionResponse><DownloadDBLogFilePortionResult><LogFileData>{}</LogFileData>"
    "<Marker>16:9</Marker><AdditionalDataPending>{}</AdditionalDataPending>"
    "</DownloadDBLogFilePortionResult></DownloadDBLogFilePortionResponse>"
)
QUOTES = {"'": "&apos;", '"': "&quot;", "\r": "&#xD;"}
PARTS = [
    "SELECT '<a>' & \"b\";",
    "\n",
    "\r\n",
    "\r",
    "ü",
    "\U0001f600",
    "&amp;lt;",
    "]]",
    "</LogFileData",
    "\t",
]


class Service:
    """Gives one answer to all requests of a client."""

    def __init__(self) -> None:
        keys = {"aws_access_key_id": "id", "aws_secret_access_key": "unused"}
        self.client = boto3.client("rds", region_name="eu-central-1", **keys)
        self.client.meta.events.register("before-send.rds", self._answered)
        self.body = b""

    def _answered(self, request, **_: object) -> AWSResponse:
        raw = io.BytesIO(self.body)
        raw.stream = lambda: iter([raw.read()])
        return AWSResponse(request.url, 200, {"content-type": "text/xml"}, raw)


@pytest.fixture(scope="module")
def parsed() -> Service:
    return Service()


@pytest.fixture(scope="module")
def taken() -> Service:
    return Service()


def by_parser(service: Service, body: bytes) -> tuple[bytes, str]:
    service.body = body
    asked = {"DBInstanceIdentifier": "db", "LogFileName": "a"}
    answer = aws.ask(service.client, "DownloadDBLogFilePortion", "db", **asked)
    return (answer.get("LogFileData") or "").encode(), answer["Marker"]


def read(service: Service, body: bytes) -> tuple[bytes, str | None, bool]:
    service.body = body
    portion = RdsLogs(service.client, "db", "a").read("a", "16:0")
    return portion.data, portion.position, portion.at_end


def test_texts_are_those_of_the_parser(parsed, taken):
    for seed in range(SEEDS):
        chosen = random.Random(seed)
        text = "".join(chosen.choices(PARTS, k=chosen.randrange(20)))
        written = escape(text, QUOTES if chosen.random() < 0.5 else {"\r": "&#13;"} if seed % 3 else {})
        body = ANSWER.format(written, "true").encode()
        expected, marker = by_parser(parsed, body)
        assert read(taken, body) == (expected, marker, False), seed


@pytest.mark.parametrize(
    "text",
    [
        "<![CDATA[a & b]]>",
        "&#252;&#xfc;",
        "a<!-- b -->c",
    ],
)
def test_what_is_unusual_is_left_to_the_parser(parsed, taken, text):
    body = ANSWER.format(text, "false").encode()
    assert read(taken, body)[0] == by_parser(parsed, body)[0]


@pytest.mark.parametrize("text", [b"\xff", b"&unknown;", b"a & b", b"a &lt"])
def test_an_answer_that_is_no_xml_is_refused(taken, text):
    with pytest.raises(RemoteError, match="cannot be decoded"):
        read(taken, ANSWER.encode().replace(b"{}", text, 1).replace(b"{}", b"false"))


def test_an_answer_without_the_text_is_an_empty_portion(taken):
    body = ANSWER.format("", "false").replace("<LogFileData></LogFileData>", "").encode()
    assert read(taken, body) == (b"", "16:9", True)
