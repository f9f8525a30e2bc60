{%- include "parts/covered_slots.sql" -%}
{#- In which slots of a chart over time logs were read, for a WITH: `read_slots`, a row or two per server and kind of log,
    with the columns
    instance        server;
    source          kind of log;
    first_seconds   0;
    census_seconds  Unix time of the first census, 0 without any: from then on, coverage_1m knows each minute;
    last_seconds    Unix time of the last census;
    slots_read      starts of slots in which a log was read, as Unix times (covered_slots).
    A slot has `slot_seconds`: the parameter `width`, or a minute if that is shorter.
    Parameters: from, to, width, clusters and servers (empty for all), sources (kinds of logs). #}
    toStartOfMinute({from:DateTime('UTC')}) AS first_minute_read,
    toStartOfMinute({to:DateTime('UTC')}) AS end_minute_read,
    {sources:Array(String)} AS kinds_read,
    if(length({servers:Array(String)}) = 1, {servers:Array(String)}[1], '') AS server_read,
    greatest({width:UInt32}, 60) AS slot_seconds,
{%- set condition -%}
    source IN {sources:Array(String)}
                AND (empty({clusters:Array(String)}) OR cluster IN {clusters:Array(String)})
                AND (empty({servers:Array(String)}) OR instance IN {servers:Array(String)})
{%- endset %}
    read_slots AS (
        SELECT toString(instance) AS instance, toString(source) AS source, toUInt32(0) AS first_seconds,
            toUInt32(min(at)) AS census_seconds, toUInt32(max(at)) AS last_seconds, [] :: Array(UInt32) AS slots_read
        FROM tailrace.ledger
        WHERE kind = 'CENSUS' AND {{ condition }}
        GROUP BY instance, source
        UNION ALL
        SELECT toString(log_instance), log_source, 0, 0, 0, groupUniqArray(slot)
        FROM (
{{ covered_slots('first_minute_read', 'end_minute_read', 'slot_seconds', 'kinds_read', 'server_read', condition) }})
        GROUP BY log_instance, log_source
    )
