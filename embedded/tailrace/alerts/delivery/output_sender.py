"""Sends alerts to the receivers of `tailrace.outputs`, in batches."""

from collections.abc import Mapping, Sequence

from tailrace.alerts.delivery import formats, ocsf
from tailrace.alerts.delivery.config import Output
from tailrace.alerts.delivery.delivery_log import FAILED, Due, Outcome
from tailrace.outputs.receivers import receiver_of
from tailrace.outputs.record import Record

KIND = "alert"


class OutputSender:
    """Makes one attempt at a time."""

    def __init__(self, output: Output, dashboards: str) -> None:
        self._output = output
        self._dashboards = dashboards
        self._receiver = receiver_of(output.receiver)

    def send(self, due: Due) -> Outcome:
        """Sends one alert; raises nothing."""
        (outcome,) = self.send_all([due])
        return outcome

    def send_all(self, due: Sequence[Due]) -> list[Outcome]:
        """Sends a batch; raises nothing. An unexpected error must not stop the delivery of all others."""
        try:
            return self._receiver.send([self._record(each) for each in due]) if due else []
        except Exception as error:  # its text may contain a secret
            return [Outcome(FAILED, f"unexpected {type(error).__name__}")] * len(due)

    def preview(self, due: Due) -> str:
        return self._receiver.show(self._record(due))

    def _record(self, due: Due) -> Record:
        """Returns the record of an alert. An alert whose count has grown is another record."""
        alert = due.alert
        document: Mapping[str, object] = formats.DOCUMENTS[self._output.format](alert, self._dashboards)
        return Record(
            id=due.idempotency_key,
            millis=ocsf.millis(alert["event_time"]),
            host=str(alert["instance"]),
            kind=KIND,
            format=self._output.format,
            document=document,
        )
