{%- include "parts/time_range.sql" -%}
-- Usage of each account in the time range: clients, programs, persons, and the number of clients within one hour.
-- Several clients at the same time mean several persons or machines behind one account. At most 20 clients and programs
-- are listed, and at most 20 are counted within an hour. All names of the server's own machine count as one.
{%- macro client() -%}
    multiIf(client_ip IN ('127.0.0.1', '::1'), 'localhost', client_ip != '', client_ip, client_host)
{%- endmacro %}
WITH
    {{ shown_range(30) }},
    hours AS (
        SELECT cluster, instance, user,
            groupUniqArray({{ client() }}) AS its_clients,
            groupUniqArrayIf(20)(program_name, program_name != '') AS its_programs,
            groupUniqArrayIf(20)(if(os_user != '', os_user, proxy_user), os_user != '' OR proxy_user != '') AS its_people,
            count() AS its_records, max(event_time) AS its_last
        FROM tailrace.audit_events
        WHERE event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC') AND user != '' AND event_class != 'table'
            AND is_account_use
        GROUP BY cluster, instance, user, toStartOfHour(event_time)
    ),
    ways AS (
        SELECT cluster, instance, user,
            max(least(length(its_clients), 21)) AS most,
            uniqExactArray(its_clients) AS clients,
            groupUniqArrayArray(20)(its_clients) AS client_names,
            groupUniqArrayArray(20)(its_programs) AS programs,
            groupUniqArrayArray(20)(its_people) AS people,
            sum(its_records) AS records, toDateTime(max(its_last), 'UTC') AS last_time
        FROM hours
        GROUP BY cluster, instance, user
    )
SELECT
    {{ end_of_range() }} AS as_of,
    cluster, instance, user,
    clients AS client_count,
    most AS at_once,
    arrayStringConcat(arraySort(client_names), ', ') AS used_from,
    arrayStringConcat(arraySort(programs), ', ') AS used_with,
    arrayStringConcat(arraySort(people), ', ') AS used_by,
    most > 1 OR length(people) > 1 AS is_shared,
    if(is_shared, 'yes', 'no') AS shared,
    records AS record_count,
    last_time AS last_seen
FROM ways
