-- The saved searches, with their schedule and the state of the latest run. With {role:String}, those of the owner in this role
-- and those that are shared in it; an empty role means all, for the delivery and operators.
-- scheduled_at: since when the search has run at this interval, without a pause. A search that was removed begins again.
-- A run is finished if a channel received it, if there was nothing to deliver, or if the role may not search that.
-- last_outcome: the worst of the channels; that of the search if no channel was tried.
-- missed: a row counts all missed runs since the last finished one, so a run that never finished does not count them again.
WITH
    changes AS
    (
        SELECT
            owner,
            name,
            arraySort(groupArray((at, action, if(action = 'save' AND NOT paused, every_seconds, 0)))) AS history,
            argMax((action, role, search, every_seconds, channels, shared, paused, min_events, suspended, needs_account), at) AS last
        FROM tailrace.scheduled_searches
        GROUP BY owner, name
    ),
    saved AS
    (
        SELECT
            owner,
            name,
            last.2 AS role,
            last.3 AS search,
            last.4 AS every_seconds,
            last.5 AS channels,
            last.6 AS shared,
            last.7 AS paused,
            last.8 AS min_events,
            last.9 AS suspended,
            last.10 AS needs_account,
            history[-1].1 AS saved_at,
            history[arrayLastIndex(each -> each.2 = 'remove', history) + 1].1 AS created_at,
            history[arrayLastIndex(each -> each.3 != history[-1].3, history) + 1].1 AS scheduled_at
        FROM changes
        WHERE last.1 = 'save' AND ({role:String} = '' OR last.2 = {role:String} AND (owner = {owner:String} OR last.6))
    ),
    of_channels AS
    (
        SELECT
            owner,
            name,
            until,
            channel,
            argMax(outcome, at) AS its_outcome,
            argMax(events, at) AS its_events,
            argMax(detail, at) AS its_detail,
            max(missed) AS its_missed,
            max(at) AS its_at
        FROM tailrace.search_runs
        GROUP BY owner, name, until, channel
    ),
    of_runs AS
    (
        SELECT
            owner,
            name,
            until,
            groupArray((its_outcome, its_events, its_detail)) AS outcomes,
            arrayFirst(
                each -> has(outcomes.1, each), ['failed', 'refused', 'delivered', 'denied', 'nothing', 'error', 'missed']
            ) AS worst,
            arrayFirst(each -> each.1 = worst, outcomes) AS shown,
            worst NOT IN ('error', 'missed') AS is_finished,
            max(its_missed) AS missed_before,
            max(its_at) AS tried_at
        FROM of_channels
        INNER JOIN saved USING (owner, name)
        WHERE until > created_at
        GROUP BY owner, name, until
    ),
    runs AS
    (
        SELECT
            owner,
            name,
            maxIf(until, is_finished) AS last_until,
            max(until) AS tried_until,
            argMax(shown, until) AS last_shown,
            argMax(tried_at, until) AS last_at,
            sumIf(missed_before, is_finished) + argMax(if(is_finished, 0, missed_before), until) AS missed
        FROM of_runs
        GROUP BY owner, name
    )
SELECT
    owner,
    name,
    role,
    search,
    every_seconds,
    channels,
    shared,
    paused,
    min_events,
    suspended,
    needs_account,
    toUnixTimestamp64Micro(saved_at) AS saved_micros,
    toUnixTimestamp64Micro(scheduled_at) AS scheduled_micros,
    toUnixTimestamp(last_until) AS last_until_seconds,
    toUnixTimestamp(tried_until) AS tried_until_seconds,
    toUnixTimestamp64Micro(last_at) AS last_at_micros,
    last_shown.1 AS last_outcome,
    last_shown.2 AS last_events,
    last_shown.3 AS last_detail,
    missed
FROM saved
LEFT JOIN runs USING (owner, name)
ORDER BY owner, name
