{%- include "parts/time_range.sql" -%}
{%- set evidence -%}
{%- include "evidence_servers.sql" -%}
{%- endset -%}
-- Each known server with its audit status in the time range, as in the evidence.
SELECT
    {{ end_of_range() }} AS as_of,
    instance, state,
    state IN ('no audit log', 'listed audit log never arrived', 'audit log not seen in the period', 'auditing was off') AS is_unaudited,
    if(audit_sources = '', '(none)', audit_sources) AS audit_sources,
    audit_first_seen, audit_last_seen, records_read_at, listed_since, removed_from_list_at,
    if(product = '', '(not asked)', concat(product, ' ', server_version)) AS server,
    server_says_it_audits AS reported_audit_state, changes_of_auditing
FROM (
{{ within_range(evidence, 7) }}
)
