"""The receiver for a configuration."""

from collections.abc import Callable, Mapping

from tailrace.outputs.config import S3, Elasticsearch, GoogleSecOps, Kafka, ReceiverConfig, Sentinel, Splunk
from tailrace.outputs.record import Receiver


def _elasticsearch(to: Elasticsearch) -> Receiver:
    from tailrace.outputs.elasticsearch import ElasticsearchReceiver

    return ElasticsearchReceiver(to)


def _splunk(to: Splunk) -> Receiver:
    from tailrace.outputs.splunk import SplunkReceiver

    return SplunkReceiver(to)


def _kafka(to: Kafka) -> Receiver:
    from tailrace.outputs.kafka import KafkaReceiver

    return KafkaReceiver(to)


def _s3(to: S3) -> Receiver:
    from tailrace.outputs.s3 import S3Receiver

    return S3Receiver(to)


def _sentinel(to: Sentinel) -> Receiver:
    from tailrace.outputs.sentinel import SentinelReceiver

    return SentinelReceiver(to)


def _google_secops(to: GoogleSecOps) -> Receiver:
    from tailrace.outputs.google_secops import GoogleSecOpsReceiver

    return GoogleSecOpsReceiver(to)


_MAKERS: Mapping[type, Callable[..., Receiver]] = {
    Elasticsearch: _elasticsearch,
    Splunk: _splunk,
    Kafka: _kafka,
    S3: _s3,
    Sentinel: _sentinel,
    GoogleSecOps: _google_secops,
}


def receiver_of(to: ReceiverConfig) -> Receiver:
    """Returns a new receiver. Its libraries are loaded now: those of S3 and Kafka take half a second."""
    return _MAKERS[type(to)](to)
