{%- include "parts/time_range.sql" -%}
{%- include "parts/links.sql" -%}
{%- set evidence -%}
{%- include "evidence_accounts.sql" -%}
{%- endset -%}
{%- set administrators -%}
{%- include "parts/administrators.sql" -%}
{%- endset -%}
-- Accounts and roles at the end of the time range, with their privileges and their last use, as in the evidence.
--
-- `state` is `not known` if no log of the server covers 90 days, and for accounts without a name, as in the view
-- accounts_unused: `logs_begin` is the reason in the row. It is also `not known` if the logs contain pseudonyms
-- (docs/ERASURE.md). The age of a password counts from its last change.
WITH
    {{ shown_range(30) }},
    least(range_end, now('UTC')) AS known_end,
    {{ within_range(administrators, 30) }}
    earliest_log AS (
        SELECT instance, min(at) AS logs_since
        FROM (
            SELECT instance, min(event_time) AS at FROM tailrace.audit_events GROUP BY instance
            UNION ALL
            SELECT instance, min(event_time) AS at FROM tailrace.query_events GROUP BY instance)
        GROUP BY instance
    ),
    grants_known AS (
        SELECT DISTINCT instance FROM tailrace.server_snapshots
        WHERE kind = 'grants_global' AND status = 'ok' AND server_snapshots.at < toDateTime64(known_end, 6, 'UTC')
    )
SELECT
    {{ end_of_range() }} AS as_of,
    cluster, account_facts.instance AS instance, account, kind,
    replaceAll(extract(account, '^\'((?:[^\']|\'\')*)\''), '\'\'', '\'') AS user,
    multiIf(
        kind = 'role', 'role',
        pseudonyms_in_logs = 'yes' AND (last_use IS NULL OR days_unused >= 90), 'not known',
        last_use IS NOT NULL, if(days_unused >= 90, 'not for 90 days', 'used'),
        user = '' OR toUnixTimestamp(logs_since) = 0 OR logs_since > toDateTime64(known_end, 6, 'UTC') - INTERVAL 90 DAY, 'not known',
        'never used') AS state,
    last_use, days_unused,
    if(toUnixTimestamp(logs_since) = 0, '(no logs)', toString(toDate(logs_since))) AS logs_begin,
    locked, password, authentication, tls_required, so_since,
    dateDiff('day', parseDateTimeBestEffortOrNull(password_changed_at, 'UTC'), known_end) AS password_days,
    (account_facts.instance, user) IN administrators AS is_administrator,
    is_administrator OR account_facts.instance IN grants_known AS rights_known,
    multiIf(is_administrator, 'yes', rights_known, 'no', 'not known') AS administrator,
    locked = 'yes' OR password = 'none' OR password_days IS NOT NULL AS password_known,
    multiIf(
        kind != 'account', '', NOT password_known, 'not known', locked = 'yes', 'no', password = 'none', 'no password',
        password_days > 90, 'older than 90 days', 'no') AS weak_password,
    privileges,
    if(kind = 'role', '', {{ link_to_access('account_facts.instance', 'user', "'data'") }}) AS link
FROM (
{{ within_range(evidence, 30, ends_now=true) }}
) AS account_facts
LEFT JOIN earliest_log ON earliest_log.instance = account_facts.instance
