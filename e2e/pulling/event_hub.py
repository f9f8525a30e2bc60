"""An event hub of Azure: a topic of a real Kafka, with messages as a diagnostic setting sends them.

It was written from the published formats, not tested against the service.
"""

import itertools
import json

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

HUB = "insights-logs-mysqlslowlogs"
STREAMED_BY_AZURE = {
    "instance": "pulled-hub",
    "cluster": "cloud",
    "source": "slowlog",
    "kind": "event_hubs",
    "url": f"eventhubs://shop/{HUB}",
    "db_instance": "prod-1",
    "since": "2026-01-01",
}
RESOURCE = "/SUBSCRIPTIONS/0A/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.DBFORMYSQL/FLEXIBLESERVERS/"
PARTITIONS = 2
RECORDS = 10
"""Records of a message, half of them of another server."""


class EventHub:
    """A hub, and the servers whose slow logs are sent to it."""

    def __init__(self, address: str) -> None:
        self._admin = AdminClient({"bootstrap.servers": address})
        self._producer = Producer({"bootstrap.servers": address})
        self._numbers = itertools.count(1)
        for made in self._admin.create_topics([NewTopic(HUB, PARTITIONS, 1)]).values():
            made.result()

    def send(self, messages: int) -> None:
        for number in range(messages):
            records = [self._record(each) for each in range(RECORDS)]
            self._producer.produce(
                HUB, json.dumps({"records": records}).encode(), partition=number % PARTITIONS
            )
        self._producer.flush()

    def delete(self) -> None:
        """Deletes all messages, as its retention does."""
        ends = [TopicPartition(HUB, number, -1) for number in range(PARTITIONS)]
        for deleted in self._admin.delete_records(ends).values():
            deleted.result()

    def _record(self, number: int) -> dict[str, object]:
        fields = {
            "start_time": "2026-11-27T10:00:00Z",
            "query_time": 0.5,
            "user_host": "app[app] @ [10.0.0.9]",
            "sql_text": f"SELECT {next(self._numbers)} FROM orders",
        }
        server = "PROD-1" if number % 2 else "PROD-2"
        named = {"resourceId": RESOURCE + server, "category": "MySqlSlowLogs"}
        return {"time": "2026-11-27T10:00:01Z", **named, "properties": fields}
