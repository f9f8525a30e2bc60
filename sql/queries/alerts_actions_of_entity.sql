-- Audit events of the entity of an alert around its time; no rows without a filter for one. Statements are masked.
--
-- The column names are those of the alert filters. Entities of correlations ignore case, so this query applies the
-- filters itself, ignoring case, instead of Superset.
{%- macro passes(column, filter) -%}
    {%- set values = filter_values(filter, remove_filter=True) -%}
    {%- if values %}
    AND lowerUTF8({{ column }}) IN {{ values | map('lower') | list | where_in }}
    {%- endif -%}
{%- endmacro %}
{%- set chosen = filter_values('instance') + filter_values('user') + filter_values('src_ip') + filter_values('database') %}
SELECT
    toDateTime(audit_events.event_time, 'UTC') AS event_time,
    cluster, instance, user,
    client_ip AS src_ip,
    database,
    if(audit_events.command = '', event_class, audit_events.command) AS command,
    object,
    status,
    fingerprint AS statement
FROM tailrace.audit_events
ANY LEFT JOIN (
    SELECT assumeNotNull(query_id) AS query_id, rule_set, fingerprint FROM tailrace.fingerprints
) AS texts USING (query_id, rule_set)
WHERE {{ "true" if chosen else "false" }}
    {{- passes('instance', 'instance') }}
    {{- passes('user', 'user') }}
    {{- passes('client_ip', 'src_ip') }}
    {{- passes('database', 'database') }}
