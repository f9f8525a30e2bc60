{#- A percentile over executions: `seconds` weighted with `weight`, never an average of percentiles. Of a range it is of the
    entries since each server last began to log differently (`latest`), and none where there are none. For a chart over time it
    is of all entries of a bucket, and none in a bucket in which a server began to log differently (`changed`). -#}
{%- macro percentile(level) -%}
{%- if 'BASE_AXIS' in columns | default([], true) | string -%}
    if(sum(weight) = 0 OR max(changed), NULL, quantileExactWeighted({{ level }})(seconds, toUInt64(round(weight))))
{%- else -%}
    if(sumIf(weight, latest) = 0, NULL, quantileExactWeightedIf({{ level }})(seconds, toUInt64(round(weight)), latest))
{%- endif -%}
{%- endmacro -%}
