{#- A percentile over executions: `seconds` weighted with `weight`, never an average of percentiles. Over a whole range it is of
    the entries since each server last began to log differently (`latest`); none where there are none. -#}
{%- macro percentile(level) -%}
    if(sumIf(weight, latest) = 0, NULL, quantileExactWeightedIf({{ level }})(seconds, toUInt64(round(weight)), latest))
{%- endmacro -%}
{#- The same for rows with a bucket of `time`: in one bucket it is of all entries, and there is none in a bucket in which a
    server began to log differently (`changed`). -#}
{%- macro percentile_by_time(level) -%}
    multiIf(
        min(time) < max(time), {{ percentile(level) }},
        sum(weight) = 0 OR max(changed), NULL,
        quantileExactWeighted({{ level }})(seconds, toUInt64(round(weight))))
{%- endmacro -%}
