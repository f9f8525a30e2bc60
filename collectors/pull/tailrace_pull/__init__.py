"""Pulls the logs of managed servers and writes their lines to Kafka, as Fluent Bit and the census do for
files. docs/PULL.md describes the kinds of logs.

`config` reads the list of logs by `entry_rules`. `service` visits each log when it is due (`pace`), and
`shipping` writes what a visit found: lines and census (`log`), signatures (`signing`) and `state`. `check`
finds out for `tailrace doctor --source` why a log cannot be read. `once` writes logs into a directory.
`importing` converts exported files, those of containers with `container_logs`. `server_counters` reads what a
server counted of its statements, for `tailrace digest --server`.

The readers by `kind`, from visits to requests:

    rds          reading, matching, portions, rds
    cloudwatch   look_back, late_events, hour_parts, events, cloudwatch
    table        table_reading, log_rows, log_tables, error_log_table, sql_log, option_file
    objects      objects, objects_memory, object_records, object_store
    event_hubs   topic_reading, event_hubs, kafka_topic, kafka_hub
    otlp         topic_reading, otlp_logs, otlp_check, kafka_topic, otlp_topic; of Performance Schema also
                 performance_schema, alloy_fields, snapshots

Shared: `entries_file` is the file that the puller makes of entries of objects and topics. `envelopes` decodes
the JSON of clouds, which `json_text` reads. `costs` counts requests and bytes by log. `aws` sends requests to
AWS, `xml_answers` takes texts out of their answers, and `remote` has the errors of all services. `plural`
formats counts with their nouns.
"""
