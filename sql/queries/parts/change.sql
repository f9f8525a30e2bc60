{%- include "parts/utc.sql" -%}
{#- The change of a row of numbers against an earlier period of the same length, as text: one <em> per number. It is the period before
    the time range, or, if the range begins at midnight, the same hours of the days before (as parts/earlier.sql). The compiler writes
    the metric that uses it (embedded/tailrace/dashboards/changes.py). A change is stated only if the logs reach back to the beginning of that period, because a number is unknown for time of which no log was read. If entries of a log reach back and its
    census does not, the log was read later, and the change says that its coverage is unknown. -#}
{%- set begins_at_midnight = from_dttm and from_dttm[11:19] in ('', '00:00:00') -%}
{#- The seconds of the time range until now, and the ends of the earlier period. -#}
{%- macro range_seconds() -%} dateDiff('second', {{ utc(from_dttm) }}, least({{ utc(to_dttm) }}, now('UTC'))) {%- endmacro -%}
{%- macro earlier_start() -%}
    {%- if begins_at_midnight -%}
    ({{ utc(from_dttm) }} - intDiv({{ range_seconds() }} + 86399, 86400) * 86400)
    {%- else -%}
    ({{ utc(from_dttm) }} - {{ range_seconds() }})
    {%- endif -%}
{%- endmacro -%}
{%- macro earlier_end() -%}
    {%- if begins_at_midnight -%} ({{ earlier_start() }} + {{ range_seconds() }}) {%- else -%} {{ utc(from_dttm) }} {%- endif -%}
{%- endmacro -%}
{#- A rendered text with the earlier period in place of the time range. -#}
{%- macro of_earlier_period(text) -%}
    {{ text | replace(utc(to_dttm), '<end>') | replace(utc(from_dttm), earlier_start())
        | replace('<end>', earlier_end()) }}
{%- endmacro -%}
{%- macro picked(columns) -%}
    {%- for column in columns if filter_values(column) %} AND {{ column }} IN {{ filter_values(column) | where_in }}{% endfor %}
{%- endmacro -%}
{%- macro first_of(table, at, server, log, condition, filters) -%}
    SELECT toString({{ server }}) AS server, toString({{ log }}) AS log, toDateTime(min({{ at }}), 'UTC') AS first_at,
        {{ '1' if table in ('ledger', 'otel_traces') else '0' }} AS has_coverage
    FROM tailrace.{{ table }}
    WHERE {{ condition }} AND {{ at }} >= {{ earlier_start() }} - {{ range_seconds() }} AND {{ at }} < {{ utc(to_dttm) }} {{- picked(filters) }}
    GROUP BY server, log
{%- endmacro -%}
{#- Why the periods are not comparable, or '', and whether the coverage of the earlier one is unknown. A log reaches back if an entry or a census is not later than a tenth of the period
    after the beginning of the earlier one. `logs` are kinds of logs, and `spans`; `census` are all logs, by the census alone. -#}
{%- macro comparability(logs) -%}
    (SELECT (multiIf(
        {%- if filter_values('cluster') or filter_values('instance') %}
        all_logs = 0, 'no log of the chosen servers',
        {%- endif %}
        reaching = 0, 'previous period not covered',
        reaching < all_logs, concat('previous period read from ', toString(reaching), ' of ', toString(all_logs), ' logs'),
        changed > 0, 'not comparable: logging settings changed',
        ''), watched < all_logs)
    FROM (
        SELECT
            {%- set latest = earlier_start() ~ " + intDiv(" ~ range_seconds() ~ ", 10)" %}
            countIf(since <= {{ latest }}) AS reaching, count() AS all_logs,
            countIf(ifNull(covered_since <= {{ latest }}, 0)) AS watched,
            {{ settings_changed() if 'slowlog' in logs else '0' }} AS changed
        FROM (
            SELECT server, log, min(first_at) AS since, minOrNullIf(first_at, has_coverage = 1) AS covered_since
            FROM (
                {%- set of_kinds = "source IN " ~ logs | where_in -%}
                {%- set of_server = ['cluster', 'instance'] %}
                {{ first_of('ledger', 'at', 'instance', 'source',
                    "kind = 'CENSUS'" ~ ('' if 'census' in logs else ' AND ' ~ of_kinds), of_server) }}
                {%- if 'slowlog' in logs %}
                UNION ALL {{ first_of('query_load_1m', 'minute', 'instance', "'slowlog'", 'true', of_server) }}
                {%- endif %}
                {%- if 'audit' in logs %}
                UNION ALL {{ first_of('audit_events', 'event_time', 'instance', 'source', of_kinds, of_server) }}
                {%- endif %}
                {%- if 'errorlog' in logs %}
                UNION ALL {{ first_of('error_events', 'event_time', 'instance', "'errorlog'", 'true', of_server) }}
                {%- endif %}
                {%- if 'spans' in logs %}
                UNION ALL {{ first_of('otel_traces', 'Timestamp', 'ServiceName', "'spans'", 'true', []) }}
                {%- endif %})
            GROUP BY server, log)))
{%- endmacro -%}
{#- The number of servers whose logging settings changed since the beginning of the period before. -#}
{%- macro settings_changed() -%}
    (SELECT uniqExact(instance) FROM (
        SELECT cluster, instance, since, min(since) OVER (PARTITION BY instance) AS first_since
        FROM tailrace.effective_logging_settings
        WHERE since < {{ utc(to_dttm) }} {{- picked(['cluster', 'instance']) }})
    WHERE since > first_since AND since > {{ earlier_start() }})
{%- endmacro -%}
{#- `text` for a range that begins at midnight and ends within 24 hours, else `otherwise`. -#}
{%- macro of_day(text, otherwise) -%}
    {%- if begins_at_midnight -%} if({{ range_seconds() }} <= 86400, {{ text }}, {{ otherwise }}) {%- else -%} {{ otherwise }} {%- endif -%}
{%- endmacro -%}
{%- macro day() -%} trimLeft(formatDateTime({{ utc(from_dttm) }}, '%e %b', 'UTC')) {%- endmacro -%}
{#- The day before, with the time at which its part ends if the range is a part of a day: 27 Nov, 27 Nov until 09:44. -#}
{%- macro day_before() -%}
    trimLeft(formatDateTime({{ utc(from_dttm) }} - 86400, '%e %b', 'UTC'))
    || if({{ range_seconds() }} < 86400, formatDateTime({{ earlier_end() }}, ' until %H:%i', 'UTC'), '')
{%- endmacro -%}
{%- macro against() -%}
    {{ of_day("concat(if(" ~ range_seconds() ~ " = 86400, concat(' on ', " ~ day() ~ ", ','), ''), ' against ', " ~ day_before() ~ ")",
        "' against the previous period'") }}
{%- endmacro -%}
{#- `value` against `was`. Shares change by percentage points. The dates of a day are shown, in place of "the previous period". -#}
{%- macro change_text() -%}
    multiIf(
        isNull(value), '',
        isNull(was), 'previous period unknown',
        value = was, {{ of_day("concat('as on ', " ~ day_before() ~ ")", "'as in the previous period'") }},
        unit = 'points', concat(if(value > was, '+', '-'), toString(round(100 * abs(value - was), 2)), ' points', {{ against() }}),
        was = 0, concat('new, 0 ', {{ of_day("concat('on ', " ~ day_before() ~ ")", "'in the previous period'") }}),
        value >= 10 * was, concat(trim(LEADING ',' FROM reverse(replaceRegexpAll(reverse(toString(round(value / was))), '\\d{3}', '\\0,'))),
            ' times ', {{ of_day("concat('that of ', " ~ day_before() ~ ")", "'the previous period'") }}),
        concat(if(value > was, '+', '-'), toString(greatest(0.1, round(100 * abs(value / was - 1), if(abs(value / was - 1) < 0.01, 1, 0)))),
            ' %', {{ against() }}))
{%- endmacro -%}
{#- `now` is an array of numbers as SQL, `query` the dataset's query, `at` its time column or '', `logs` the kinds of logs with
    which the numbers are known; `units` ('percent' or 'points', '' for a number without a change) and `prefixes` have a text per number. -#}
{%- macro changes(now, query, at, logs, units, prefixes) -%}
{#- A trace is one request: there is nothing to compare it with. -#}
{%- if not (from_dttm and to_dttm) or filter_values('trace_id') -%}
    ''
{%- else -%}
    arrayStringConcat(arrayMap(
        (value, was, unit, prefix, compared) -> if(unit = '', '<em></em>', concat(
            '<em>', coalesce(nullIf(compared.1, ''), if(isNull(value), '',
                concat(prefix, {{ change_text() }}, if(compared.2 AND isNotNull(was), ', coverage unknown', '')))), '</em>')),
        {{ now }},
        (SELECT {{ of_earlier_period(now) }} FROM (
{{ of_earlier_period(query) }}
        ) AS earlier
        WHERE true
        {%- if at %} AND {{ at }} >= {{ earlier_start() }} AND {{ at }} < {{ earlier_end() }}{% endif %}
        {%- for each in filter | default([], true) if each.op in ('IN', '==') and each.col in table_columns
                and each.col not in removed_filters | default([], true) %}
            AND {{ each.col }} IN {{ (each.val if each.op == 'IN' else [each.val]) | where_in }}
        {%- endfor %}),
        {{ units | string }}, {{ prefixes | string }},
        arrayWithConstant({{ units | length }}, {{ comparability(logs) if logs else "('', false)" }})))
{%- endif -%}
{%- endmacro -%}
