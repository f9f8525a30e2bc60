{#- In which slots of a chart over time logs were read, for a WITH: `read_slots`, with the columns
    source          kind of log;
    first_seconds   0;
    census_seconds  Unix time of the first census, 0 without any: from then on, coverage_1m knows each minute;
    last_seconds    Unix time of the last census;
    slots_read      starts of slots, as Unix times: all of their minutes are covered, or for slots of days of a range of more than
                    two days, a census saw the log.
    A slot has `slot_seconds`: the parameter `width` for ranges of at most two days, else a day.
    Parameters: from, to, width, servers (empty for all), sources (kinds of logs). The template's `slots_by`, `minutes` for a range of
    at most two days, else `days`, leaves out the part that such a range does not read: to analyse it takes longer than the rest. -#}
    {from:DateTime('UTC')} AS range_start,
    {to:DateTime('UTC')} AS range_end,
    range_end - range_start <= 2 * 86400 AS is_short,
    if(is_short, {width:UInt32}, 86400) AS slot_seconds,
    toStartOfMinute(if(is_short, range_start, range_end)) AS first_minute_read,
    toStartOfMinute(range_end) AS end_minute_read,
    if(is_short, {sources:Array(String)}, ['none']) AS kinds_by_minute,
    read_slots AS (
        SELECT toString(source) AS source, toUInt32(0) AS first_seconds, toUInt32(min(at)) AS census_seconds,
            toUInt32(max(at)) AS last_seconds, [] :: Array(UInt32) AS slots_read
        FROM tailrace.ledger
        WHERE kind = 'CENSUS' AND source IN {sources:Array(String)}
            AND (empty({servers:Array(String)}) OR instance IN {servers:Array(String)})
        GROUP BY source
        {%- if slots_by | default('minutes') == 'minutes' %}
        UNION ALL
        SELECT source, 0, 0, 0, groupUniqArray(slot)
        FROM (
            SELECT source, log_id, toUInt32(intDiv(second, slot_seconds) * slot_seconds) AS slot
            FROM tailrace.coverage_1m(
                first_minute = first_minute_read, end_minute = end_minute_read, server = '', kinds = kinds_by_minute) AS minutes
            INNER JOIN (
                SELECT DISTINCT cityHash64(instance, source, log) AS log_id, toString(source) AS source
                FROM tailrace.ledger
                WHERE kind = 'CENSUS' AND (empty({servers:Array(String)}) OR instance IN {servers:Array(String)})) AS logs
                USING log_id
            WHERE severity = 1
            GROUP BY source, log_id, slot
            HAVING count() >= intDiv(
                least(slot + slot_seconds, toUnixTimestamp(end_minute_read))
                - greatest(slot, toUnixTimestamp(first_minute_read)), 60))
        GROUP BY source
        {%- endif %}
        {%- if slots_by | default('days') == 'days' %}
        UNION ALL
        SELECT toString(source), 0, 0, 0, groupUniqArray(toUInt32(toUnixTimestamp(toDateTime(toDate(at), 'UTC'))))
        FROM tailrace.ledger
        WHERE NOT is_short AND kind = 'CENSUS' AND at >= range_start AND at < range_end AND source IN {sources:Array(String)}
            AND (empty({servers:Array(String)}) OR instance IN {servers:Array(String)})
        GROUP BY source
        {%- endif %}
    )
