{%- include "parts/entity_actions.sql" -%}
-- One row if data_access_by_action may match a record of the entity between `from` and `to`, otherwise none: a statement of one of its
-- sessions is in two logs that do not name the same actions. The conditions are those of `of_several_logs` and `in_doubt` of the view.
-- Parameters: from, to; name or connection.
WITH
    of_several_logs AS (
        SELECT instance
        FROM (
            SELECT DISTINCT instance, source
            FROM tailrace.data_access
            WHERE event_time >= {from:DateTime64(6, 'UTC')} - INTERVAL 1 MINUTE AND event_time < {to:DateTime64(6, 'UTC')} + INTERVAL 1 MINUTE)
        GROUP BY instance
        HAVING count() > 1)
SELECT 1 AS is_unmatched
FROM (
    SELECT 1
    FROM tailrace.data_access
    PREWHERE event_time >= {from:DateTime64(6, 'UTC')} - INTERVAL 1 MINUTE AND event_time < {to:DateTime64(6, 'UTC')} + INTERVAL 1 MINUTE
        AND connection_id != 0 AND (instance, connection_id) IN (
            SELECT instance, connection_id
            FROM tailrace.data_access
            WHERE event_time >= {from:DateTime64(6, 'UTC')} - INTERVAL 1 MINUTE AND event_time < {to:DateTime64(6, 'UTC')} + INTERVAL 1 MINUTE
                AND instance IN (SELECT instance FROM of_several_logs) AND {{ touched_by_it() }})
    WHERE query_id IS NOT NULL
    GROUP BY cityHash64(instance, connection_id, assumeNotNull(query_id))
    HAVING length(arrayDistinct(arrayFilter(total -> total != 0, [
        sum(if(source = 'audit', cityHash64(action_id), 0)), sum(if(source = 'slowlog', cityHash64(action_id), 0)),
        sum(if(source NOT IN ('audit', 'slowlog'), cityHash64(action_id), 0))]))) > 1)
LIMIT 1
