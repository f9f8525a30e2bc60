"""Receivers of batches: what they send, and the outcome of each record for every kind of answer."""

import base64
import itertools
import json
from pathlib import Path

import pytest

from e2e.siem_receivers import Bulk, Hec, serving
from tailrace.outputs.config import Elasticsearch, Splunk
from tailrace.outputs.elasticsearch import ElasticsearchReceiver
from tailrace.outputs.record import DELIVERED, FAILED, REFUSED, Receiver, Record
from tailrace.outputs.splunk import SplunkReceiver

MILLIS = 1_772_359_200_250
SECRET = "the secret key"


def record(number: int = 1, **document) -> Record:
    given = {"@timestamp": "2026-03-01T10:00:00.25Z", "event": {"id": f"id-{number}"}, **document}
    return Record(f"id-{number}", MILLIS, "shop-db-1", "login", "ecs", given)


def outcomes(receiver: Receiver, *records: Record) -> list[str]:
    return [outcome.outcome for outcome in receiver.send(records)]


@pytest.fixture
def secret(tmp_path) -> Path:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    return file


def search(url: str, **options) -> ElasticsearchReceiver:
    return ElasticsearchReceiver(Elasticsearch(url=url, index="logs-tailrace-default", **options))


def test_a_repeated_document_is_stored_once_and_counts_as_delivered():
    bulk = Bulk()
    with serving(bulk) as url:
        assert outcomes(search(url), record(1), record(2)) == [DELIVERED, DELIVERED]
        assert outcomes(search(url, is_compressed=False), record(2), record(3)) == [DELIVERED, DELIVERED]
    assert list(bulk.documents) == ["id-1", "id-2", "id-3"]
    assert bulk.documents["id-1"]["event"] == {"id": "id-1"}


def test_each_document_of_a_bulk_request_has_its_own_outcome():
    bulk = Bulk(statuses=[0, 429, 400, 503, 403])
    with serving(bulk) as url:
        found = search(url).send([record(number) for number in range(6)])
    expected = [DELIVERED, FAILED, REFUSED, FAILED, FAILED, DELIVERED]
    assert [outcome.outcome for outcome in found] == expected
    assert found[2].detail == "HTTP 400: of_the_test: status 400"


@pytest.mark.parametrize("status", [401, 403, 404, 429, 503])
def test_a_problem_of_access_or_of_the_receiver_refuses_no_record(status):
    with serving(Bulk(whole=[status])) as url:
        assert outcomes(search(url), record(1), record(2)) == [FAILED, FAILED]
        assert outcomes(search(url), record(1), record(2)) == [DELIVERED, DELIVERED]


def test_a_refused_request_is_halved_until_the_bad_record_is_found():
    bulk = Bulk(whole=[400, 0, 413, 422])
    with serving(bulk) as url:
        assert outcomes(search(url), *map(record, range(4))) == [DELIVERED, DELIVERED, REFUSED, DELIVERED]
    assert list(bulk.documents) == ["id-0", "id-1", "id-3"]


def test_requests_are_limited_in_bytes():
    bulk = Bulk()
    with serving(bulk) as url:
        receiver = search(url)
        receiver.max_bytes = 1000
        assert outcomes(receiver, *(record(number, text="x" * 300) for number in range(5))) == [DELIVERED] * 5
    assert len(bulk.headers) == 3 and len(bulk.documents) == 5


def test_the_key_is_read_for_every_attempt(secret):
    bulk = Bulk()
    with serving(bulk) as url:
        receiver = search(url, secret_file=secret)
        assert outcomes(receiver, record()) == [DELIVERED]
        secret.write_text("two\nlines")
        assert outcomes(receiver, record()) == [FAILED]
        secret.unlink()
        assert outcomes(receiver, record()) == [FAILED]
    assert [headers["Authorization"] for headers in bulk.headers] == [f"ApiKey {SECRET}"]


def test_a_user_logs_in_with_the_password(secret):
    bulk = Bulk()
    with serving(bulk) as url:
        outcomes(search(url, secret_file=secret, user="tailrace"), record())
    scheme, _, text = bulk.headers[0]["Authorization"].partition(" ")
    assert (scheme, base64.b64decode(text).decode()) == ("Basic", f"tailrace:{SECRET}")


def test_an_answer_of_another_server_is_a_failure():
    with serving(lambda _: (200, {"welcome": 1})) as url:
        assert outcomes(search(url), record()) == [FAILED]
    assert outcomes(search(url), record()) == [FAILED]


def splunk(url: str, secret: Path, **options) -> SplunkReceiver:
    given = {"url": f"{url}/services/collector/event", "secret_file": secret, "has_ack": True, **options}
    ticks = itertools.count()
    return SplunkReceiver(Splunk(**given), clock=lambda: next(ticks), sleep=lambda _: None)


def test_an_event_is_delivered_when_it_is_indexed(secret):
    hec = Hec(polls_before_ack=3)
    with serving(hec) as url:
        assert outcomes(splunk(url, secret), record(1), record(2)) == [DELIVERED, DELIVERED]
    assert hec.ids == {"id-1": 1, "id-2": 1}


def test_an_event_that_is_not_acknowledged_is_sent_again_with_the_same_id(secret):
    hec = Hec(lost=1)
    with serving(hec) as url:
        receiver = splunk(url, secret, ack_timeout=20)
        (outcome,) = receiver.send([record(1)])
        assert (outcome.outcome, outcome.detail) == (FAILED, "no acknowledgement within 20 s")
        assert not hec.ids
        assert outcomes(receiver, record(1)) == [DELIVERED]
    assert hec.ids == {"id-1": 1}


def test_one_query_asks_for_the_acknowledgements_of_all_requests(secret):
    queries: list[list[int]] = []
    hec = Hec(lost=1)

    def answer(request):
        if request.route.endswith("/ack"):
            queries.append(json.loads(request.body)["acks"])
        return hec(request)

    with serving(answer) as url:
        receiver = splunk(url, secret, ack_timeout=20)
        receiver.max_bytes = 300
        found = outcomes(receiver, *map(record, range(4)))
    assert found.count(DELIVERED) == 3 and found.count(FAILED) == 1
    assert queries[0] == [0, 1, 2, 3] and len(queries[-1]) == 1
    assert set(hec.ids) == {f"id-{number}" for number in range(4) if found[number] == DELIVERED}


def test_requests_with_the_same_ack_id_count_once(secret):
    """A collector that restarts numbers its requests from 0 again; the request before is not known."""
    with serving(lambda request: (200, {"ackId": 0, "acks": {"0": True}})) as url:
        receiver = splunk(url, secret)
        receiver.max_bytes = 300
        assert outcomes(receiver, record(1), record(2)) == [FAILED, DELIVERED]


def test_a_token_that_becomes_unreadable_delivers_nothing(secret):
    def answer(request):
        secret.unlink(missing_ok=True)
        return 200, {"ackId": 0}

    with serving(answer) as url:
        assert outcomes(splunk(url, secret), record(1)) == [FAILED]


def test_a_bad_event_does_not_hold_up_the_others(secret):
    bad = Record("bad", MILLIS, "", "login", "ecs", "no object")
    hec = Hec()
    with serving(hec) as url:
        assert outcomes(splunk(url, secret), record(1), bad, record(2)) == [DELIVERED, REFUSED, DELIVERED]
    assert hec.ids == {"id-1": 1, "id-2": 1}


def test_a_wrong_token_refuses_no_event(secret):
    with serving(Hec(token="another")) as url:
        (outcome,) = splunk(url, secret).send([record()])
    assert outcome.outcome == FAILED and "Invalid token" in outcome.detail and SECRET not in outcome.detail


def test_a_token_without_acknowledgement_is_reported(secret):
    with serving(lambda _: (200, {"text": "Success", "code": 0})) as url:
        (outcome,) = splunk(url, secret).send([record()])
        assert outcome.outcome == FAILED and "enable indexer acknowledgement" in outcome.detail
        assert outcomes(splunk(url, secret, has_ack=False), record()) == [DELIVERED]
