"""The receiver for a configuration."""

from collections.abc import Callable, Mapping

from tailrace.outputs.config import Elasticsearch, ReceiverConfig, Splunk
from tailrace.outputs.record import Receiver


def _elasticsearch(to: Elasticsearch) -> Receiver:
    from tailrace.outputs.elasticsearch import ElasticsearchReceiver

    return ElasticsearchReceiver(to)


def _splunk(to: Splunk) -> Receiver:
    from tailrace.outputs.splunk import SplunkReceiver

    return SplunkReceiver(to)


_MAKERS: Mapping[type, Callable[..., Receiver]] = {Elasticsearch: _elasticsearch, Splunk: _splunk}


def receiver_of(to: ReceiverConfig) -> Receiver:
    """Returns a new receiver. Its libraries are loaded now: those of S3 and Kafka take half a second."""
    return _MAKERS[type(to)](to)
