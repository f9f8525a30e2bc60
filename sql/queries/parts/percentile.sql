{#- A percentile over executions: `seconds` weighted with `weight`, never an average of percentiles. For a range, it covers the
    entries since the logging settings of each server last changed (`latest`), and is NULL without such entries. For a chart over
    time, it covers all entries of a bucket, and is NULL in a bucket with a change of the settings (`changed`). -#}
{%- macro percentile(level) -%}
{%- if 'BASE_AXIS' in columns | default([], true) | string -%}
    if(sum(weight) = 0 OR max(changed), NULL, quantileExactWeighted({{ level }})(seconds, toUInt64(round(weight))))
{%- else -%}
    if(sumIf(weight, latest) = 0, NULL, quantileExactWeightedIf({{ level }})(seconds, toUInt64(round(weight)), latest))
{%- endif -%}
{%- endmacro -%}
