"""Tells people and other systems of alerts: webhooks and e-mail, at least once, by what alerts.yaml says.

One way through: `config` (the file, checked) → `progress` (which alerts are due, and what became of each
attempt, in ClickHouse) → `ecs` (an alert as others read it) → `webhook` and `mail` (one attempt each) →
`service` (the loop). docs/ALERTS.md tells people how to set it up."""
