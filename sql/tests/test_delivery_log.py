"""What the delivery of alerts records on a real ClickHouse that does not always answer."""

import threading

from lost_answers import losing

from e2e.alert_rows import alert
from e2e.siem_receivers import Posted, serving
from tailrace.alerts.delivery.config import DeliveryConfig, Webhook
from tailrace.alerts.delivery.selection import Selection
from tailrace.alerts.delivery.service import ChannelWorker, backoffs_of

TABLE = "tailrace.alert_deliveries"


def test_an_attempt_whose_insert_was_not_answered_is_recorded_once(admin, user, tmp_path):
    (tmp_path / "secret").write_text("the secret key")
    got: list[Posted] = []

    def answer(request: Posted) -> tuple[int, object]:
        got.append(request)
        return 200, {}

    delivery = losing(user("delivery"))
    with serving(answer) as url:
        hook = Webhook("hook", Selection(), url, tmp_path / "secret")
        backoff = backoffs_of(DeliveryConfig("", [hook]))["hook"]
        worker = ChannelWorker(hook, "", delivery, threading.Event(), lambda _: None, backoff)
        assert worker._pass() == "", "the channel begins"
        user("writer").insert("tailrace.alerts", [alert()])
        delivery.lost.append(TABLE)
        assert "is lost" in worker._pass()
        assert worker._pass() == ""

    rows = admin.rows(f"SELECT attempt, outcome FROM {TABLE} WHERE outcome != 'begun'")
    assert [(row["attempt"], row["outcome"]) for row in rows] == [(1, "delivered")]
    assert len(got) == 1 and not delivery.lost
