{#- The steps of plans, each with its parent step. Expects a table `drawn` in the WITH with one row per plan: query_id (number),
    plan_hash, position (1 is drawn first), last_seen, lines (the outline). Several plans get a common root, because a chart draws one
    tree. -#}
{%- macro steps_of_drawn(root) -%}
    SELECT
        toDateTime(last_seen, 'UTC') AS time,
        leftPad(hex(drawn.query_id), 16, '0') AS query_id,
        plan_hash, position, step,
        concat(toString(position), '/', toString(step)) AS node,
        if(step = 1, 'root', concat(toString(position), '/',
            toString(arrayLastIndex(depth -> depth = depths[step] - 1, arraySlice(depths, 1, step - 1))))) AS parent,
        if(step = 1, concat('plan ', plan_hash), replaceRegexpAll(trimLeft(lines[step]), ', 1 rows\\b', ', 1 row')) AS label
    FROM (
        SELECT *, arrayMap(line -> intDiv(length(line) - length(trimLeft(line)), 2), lines) AS depths FROM drawn
    ) AS drawn
    ARRAY JOIN arrayEnumerate(lines) AS step
    UNION ALL
    SELECT toDateTime(max(last_seen), 'UTC'), leftPad(hex(any(drawn.query_id)), 16, '0'), any(plan_hash), 0, 0, 'root', '', {{ root }}
    FROM drawn
    HAVING count() > 0
{%- endmacro -%}
