"""Forwards the events of the topic tailrace.events to receivers, if alerts.yaml has `events`.

`decoder` reads a message, and `event` its kind and fields. `event_ecs`, `event_ocsf` and `event_udm`
convert the fields to the formats of other products. `forwarder` is the loop of one channel, with a consumer
group of its own. `service` runs all channels. docs/OUTPUTS.md describes the set-up."""
