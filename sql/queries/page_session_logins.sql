WITH
{%- include "parts/entity_records.sql" -%}
-- Logins of one connection id, the latest first: the id starts again when its server restarts. Where several logs record
-- a login, the first of them by name counts. Parameters: those of page_entity_timeline without begin and width.
SELECT began, user, client, program, database
FROM (
    SELECT
        records.event_time AS began, log, min(log) OVER () AS counted_log,
        user, {{ shown_client() }} AS client, program, database
    FROM records
    WHERE is_login)
WHERE log = counted_log
ORDER BY began DESC
LIMIT 50
