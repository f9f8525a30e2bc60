"""Records actions on alerts that users take in other tools, from signed requests of those tools.

`config` reads callbacks.yaml. `signatures` verifies who sent a request. `tools` converts the request of each
tool to actions on alerts. `service` joins them and records the actions with the code of `tailrace alerts`.
`server` answers HTTP. docs/ALERTS.md describes the set-up."""
