{%- include "parts/entity_actions.sql" -%}
-- Data classes that an entity read or changed, in actions; an action in several logs counts once. `(unknown)` are actions
-- that may have touched other data than the log names. A table that logs name without its database may be of any. Parameters:
-- those of page_entity_timeline without begin and width.
SELECT
    class, uniqExactIf(action_id, how = 'read') AS reads, uniqExactIf(action_id, how = 'changed') AS changes,
    uniqExactIf(action_id, how = 'unknown') AS unknown_actions,
    min(touched_at) AS first_seen, max(touched_at) AS last_seen
FROM (
    SELECT
        data_access.event_time AS touched_at, cityHash64(data_access.instance, data_access.action_id) AS action_id,
        arrayJoin(arrayConcat(
            arrayMap(each -> (toString(each), 'read'), data_class_read),
            arrayMap(each -> (toString(each), 'changed'), data_class_written),
            if(has(basis, 'unknown'), [('(unknown)', 'unknown')], []))) AS touch,
        touch.1 AS class, touch.2 AS how
    FROM {{ actions() }} AS data_access
    WHERE ({cluster:String} = '' OR cluster = {cluster:String})
        AND ({instance:String} = '' OR instance = {instance:String})
        AND {{ touched_by_it() }})
GROUP BY class
ORDER BY class = '(unknown)', reads + changes DESC, class
LIMIT 50
