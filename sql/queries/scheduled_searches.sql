-- The searches that run at fixed intervals, with the end of the last run that was finished. A run is finished if a channel
-- received it, if there was nothing to deliver, or if the role may not search that; a search that failed is not.
-- missed: a row counts all missed runs since the last finished one, so a run that never finished does not count them again.
WITH
    saved AS
    (
        SELECT
            owner,
            name,
            argMax(action, at) AS last_action,
            argMax(role, at) AS role,
            argMax(search, at) AS search,
            argMax(every_seconds, at) AS every_seconds,
            argMax(channels, at) AS channels,
            max(at) AS saved_at
        FROM tailrace.scheduled_searches
        GROUP BY owner, name
    ),
    each_run AS
    (
        SELECT
            owner,
            name,
            until,
            countIf(outcome NOT IN ('error', 'missed')) > 0 AS is_finished,
            argMax(outcome, at) AS its_outcome,
            argMax(events, at) AS its_events,
            argMax(detail, at) AS its_detail,
            max(missed) AS its_missed
        FROM tailrace.search_runs
        GROUP BY owner, name, until
    ),
    runs AS
    (
        SELECT
            owner,
            name,
            maxIf(until, is_finished) AS last_until,
            argMax(its_outcome, until) AS last_outcome,
            argMax(its_events, until) AS last_events,
            argMax(its_detail, until) AS last_detail,
            sumIf(its_missed, is_finished) + argMax(if(is_finished, 0, its_missed), until) AS missed
        FROM each_run
        GROUP BY owner, name
    )
SELECT
    owner,
    name,
    role,
    search,
    every_seconds,
    channels,
    toUnixTimestamp64Micro(saved_at) AS saved_micros,
    toUnixTimestamp(last_until) AS last_until_seconds,
    last_outcome,
    last_events,
    last_detail,
    missed
FROM saved
LEFT JOIN runs USING (owner, name)
WHERE last_action = 'save'
ORDER BY owner, name
