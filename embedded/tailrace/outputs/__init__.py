"""Receivers of records in batches: SIEMs, search engines, Kafka and object stores.

A record has a stable id, so a repeated attempt is no second record where the receiver compares ids.
`record` defines records and outcomes, `config` reads the keys of a receiver, and `receivers` creates it.
`http` has what the receivers over HTTP share. The delivery of alerts and the forwarding of events use them.
docs/OUTPUTS.md describes the set-up."""
