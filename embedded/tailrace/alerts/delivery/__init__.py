"""Delivers alerts by webhook and e-mail, at least once, as alerts.yaml configures it.

`config` reads and validates the file. `delivery_log` reads the due alerts from ClickHouse and records each
attempt. `ecs` converts an alert to ECS fields. `webhook` and `mail` make one attempt each. `service` is the
loop. docs/ALERTS.md describes the set-up."""
