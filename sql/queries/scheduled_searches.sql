-- The searches that run at fixed intervals, with the end of the last run that was finished. A run is finished if a channel
-- received it, if there was nothing to deliver, or if the role may not search that; a search that failed is not.
-- attempts: of the latest run, by channel; the empty channel counts searches that failed.
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
    runs AS
    (
        SELECT
            owner,
            name,
            maxIf(until, outcome NOT IN ('error', 'missed')) AS last_until,
            argMax(outcome, (until, at)) AS last_outcome,
            argMax(events, (until, at)) AS last_events,
            argMax(detail, (until, at)) AS last_detail,
            sum(missed) AS missed
        FROM tailrace.search_runs
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
