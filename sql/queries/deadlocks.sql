{%- include "parts/time_range.sql" -%}
{%- include "parts/links.sql" -%}
{%- macro who(number) -%}
    concat(
        if(details[concat(its, {{ number }}, '_user')] = '', 'unknown', details[concat(its, {{ number }}, '_user')]),
        if(details[concat(its, {{ number }}, '_host')] = '', '', concat(' from ', details[concat(its, {{ number }}, '_host')])),
        if(details[concat(its, {{ number }}, '_thread_id')] = '', '',
            concat(', connection ', details[concat(its, {{ number }}, '_thread_id')])))
{%- endmacro -%}
-- Deadlocks: InnoDB's report of the two transactions that waited for each other, and the one that was rolled back.
-- Servers report every deadlock with innodb_print_all_deadlocks; otherwise only the last one is in the InnoDB monitor,
-- if one was captured. A deadlock in both is returned once.
WITH
    {{ shown_range(30) }},
    if(kind = 'deadlock', 'transaction_', 'deadlock_transaction_') AS its
SELECT
    toDateTime(event_time, 'UTC') AS at,
    cluster, instance,
    details[concat(its, '1_statement')] AS first_statement,
    details[concat(its, '2_statement')] AS second_statement,
    details[concat(its, '1_user')] AS user,
    details[concat(its, '2_user')] AS other_user,
    details[concat(its, '1_waits_for')] AS first_waits_for,
    details[concat(its, '2_waits_for')] AS second_waits_for,
    details[if(kind = 'deadlock', 'rolled_back', 'deadlock_rolled_back')] AS rolled_back,
    {{ who("'1'") }} AS first_who, {{ who("'2'") }} AS second_who,
    multiIf(
        rolled_back = '1', concat('first: ', coalesce(nullIf(details[concat(its, '1_user')], ''), 'unknown')),
        rolled_back = '2', concat('second: ', coalesce(nullIf(details[concat(its, '2_user')], ''), 'unknown')),
        'unknown') AS victim,
    details[concat(its, '1_thread_id')] AS connection_id,
    details[concat(its, '2_thread_id')] AS other_connection,
    details[concat(its, '1_query_id')] AS query_id,
    if(query_id = '', '', {{ link_to_query('query_id', "'first'") }}) AS link,
    if(details[concat(its, '2_query_id')] = '', '',
        {{ link_to_query("details[concat(its, '2_query_id')]", "'second'") }}) AS second_link
FROM tailrace.error_events
WHERE event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
    AND (kind = 'deadlock' OR kind = 'innodb_monitor' AND details['deadlock_rolled_back'] != '')
    AND (first_statement != '' OR second_statement != '' OR rolled_back != '')
ORDER BY event_time
LIMIT 1 BY
    instance, details[concat(its, '2_id')],
    if(details[concat(its, '1_id')] = '', concat(kind, toString(event_time)), details[concat(its, '1_id')])
