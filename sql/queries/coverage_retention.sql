{%- include "parts/time_range.sql" -%}
{%- set evidence -%}
{%- include "evidence_retention.sql" -%}
{%- endset -%}
-- Age of the oldest records of each server, compared with the retention that ClickHouse applies, as in the evidence.
{%- macro policy(table) -%}
    (SELECT max(toUInt32OrZero(extract(engine_full, 'TTL .*?toIntervalDay\\((\\d+)\\)'))) FROM system.tables
        WHERE database IN ('tailrace', 'tailrace_shard') AND name = '{{ table }}')
{%- endmacro %}
SELECT
    {{ end_of_range() }} AS as_of,
    what AS record_type, policy_days, instance, first_record, last_record, days_back,
    multiIf(policy_days < 365, 'policy too short', days_back >= 365, 'twelve months', days_back >= 90, 'three months, no older record',
        'no older record') AS reaches
FROM (
{{ within_range(evidence, 7, ends_now=true)
    | replace("{audit_days:UInt32}", policy("audit_events"))
    | replace("{error_days:UInt32}", policy("error_events"))
    | replace("{access_days:UInt32}", policy("data_access")) }}
)
WHERE last_record > toDateTime(0, 'UTC')
