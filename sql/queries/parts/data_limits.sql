{%- include "parts/number_links.sql" -%}
{#- One line about the limits of the data of a dashboard, as a link to the details. For metrics of data_limits.sql.
    Each aggregate is written once, as an argument of the function that writes the text: ClickHouse took two thirds of the time of the
    query to analyse a text that repeats them. -#}
{%- macro of_kinds(sources) -%} source IN {{ sources | where_in }} {%- endmacro -%}
{%- macro minutes_of(states, sources) -%} sumIf(minutes, minute_state IN {{ states | where_in }} AND {{ of_kinds(sources) }}) {%- endmacro -%}
{#- `text` with these names, of the logs of the kinds `sources`. `never_arrived` are servers with a listed log that never arrived. -#}
{%- macro with_counts(sources, text, names=(), values=()) -%}
    arrayMap(
        (expected, covered, missing, behind, unknown, before, first_known, never_arrived
            {%- for name in names %}, {{ name }}{% endfor %}) -> {{ text }},
        [sumIf(minutes, minute_state != 'logged' AND {{ of_kinds(sources) }})], [{{ minutes_of(['covered'], sources) }}],
        [{{ minutes_of(['missing'], sources) }}], [{{ minutes_of(['behind'], sources) }}],
        [{{ minutes_of(['before', 'unknown', 'never'], sources) }}], [{{ minutes_of(['before'], sources) }}],
        [maxIf(first_census, minute_state = 'before' AND {{ of_kinds(sources) }})],
        [uniqExactIf(instance, minute_state = 'never' AND {{ of_kinds(sources) }})]
        {%- for value in values %}, [{{ value }}]{% endfor %})[1]
{%- endmacro -%}
{%- macro some_minutes(count, text) -%}
    if({{ count }} = 0, '', concat(' · ', {{ grouped(count) }}, if({{ count }} = 1, ' minute ', ' minutes '), '{{ text }}'))
{%- endmacro -%}
{%- macro counted_servers(count) -%} toString({{ count }}), if({{ count }} = 1, ' server', ' servers') {%- endmacro -%}
{#- Others of the logs of these servers may arrive. -#}
{%- macro never_text() -%}
    if(never_arrived = 0, '', concat(' · ', {{ counted_servers('never_arrived') }}, ' with a listed log that never arrived'))
{%- endmacro -%}
{#- Minutes before the first census of a log are unknown, too. The time of that census is stated, because it is their reason. -#}
{%- macro minutes_text() -%}
    concat(
        if(unknown = expected, ' · coverage unknown', ''),
        if(expected > 0 AND covered = expected, ' · no minute missing', ''),
        {{ some_minutes('missing', 'missing') }},
        {{ some_minutes('behind', 'not read yet') }},
        if(unknown IN (0, expected), '', concat(' · coverage of ',
            toString(least(99.9, greatest(0.1, round(100 * unknown / expected, 1)))), ' % of the minutes unknown')),
        if(before = 0, '', concat(' · no census before ', formatDateTime(first_known, '%Y-%m-%d %H:%i UTC', 'UTC'))),
        {{ never_text() }})
{%- endmacro -%}
{%- macro limits_of_slow_logs() -%}
    {%- set settings -%}
    multiIf(
        logging = 0, 'no slow query logged',
        logging_known = 0, concat('slow log threshold unknown on ', {{ counted_servers('logging') }}, ' (no snapshot)'),
        concat('slow log ', arrayStringConcat(arraySort(thresholds), ', '), ' on ', toString(logging_known), ' of ', {{ counted_servers('logging') }},
            if(logging_known = logging, '', concat(' (unknown on ', toString(logging - logging_known), ': no snapshot)'))))
    {%- endset -%}
    {{ linked_text('slow-queries', with_counts(['slowlog'], "concat(" ~ settings ~ ", " ~ minutes_text() ~ ")",
        ['logging', 'logging_known', 'thresholds'],
        ["uniqExactIf(instance, minute_state = 'logged')", "uniqExactIf(instance, minute_state = 'logged' AND logged != 'unknown')",
            "groupUniqArrayIf(logged, minute_state = 'logged' AND logged != 'unknown')"]), 'TAB-slow-queries-data-limits') }}
{%- endmacro -%}
{#- `logs`: pairs of a name and the kinds of logs that it means. The text states for each name how many of the servers that are watched or
    listed have such a log: one number for all names would hide a server with an error log and no audit log. -#}
{%- macro limits_of_logs(logs, dashboard) -%}
    {%- set counts -%}
    [{% for name, kinds in logs %}uniqExactIf(instance, minute_state != 'never' AND {{ of_kinds(kinds) }}){{ ", " if not loop.last }}{% endfor %}]
    {%- endset -%}
    {%- set text -%}
    if(arraySum(with_log) = 0,
        concat('coverage of {{ logs | map('first') | join(' and ') }} unknown (no census in the time range)', {{ never_text() }}),
        concat({% for name, kinds in logs %}'{{ name }} of ', toString(with_log[{{ loop.index }}]), ' of ', {{ counted_servers('servers') }},
            {{ "', ', " if not loop.last }}{% endfor %}{{ minutes_text() }}))
    {%- endset -%}
    {{ linked_text(dashboard, with_counts(logs | map('last') | sum(start=[]), text, ['with_log', 'servers'], [counts, "uniqExact(instance)"])) }}
{%- endmacro -%}
