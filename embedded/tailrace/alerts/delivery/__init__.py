"""Delivers alerts at least once to the channels of alerts.yaml.

`config` reads and validates the file. `delivery_log` reads the due alerts from ClickHouse and records each
attempt. `ecs`, `ocsf` and `event_lines` convert an alert to the formats of other products; `formats` lists
them. `webhook`, `services`, `syslog` and `mail` make one attempt each. `service` is the loop. docs/ALERTS.md
describes the set-up."""
