    done AS (
        SELECT
            alert_id,
            argMaxIf(action, at, action IN ('ack', 'close', 'reopen')) AS last_change,
            argMaxIf(verdict, at, action = 'close') AS last_verdict,
            argMaxIf(assignee, at, action = 'assign') AS last_assignee
        FROM tailrace.alert_actions
        GROUP BY alert_id),
    shown AS (
        SELECT
            * EXCEPT (last_change, last_verdict, last_assignee),
            multiIf(last_change = 'close', 'closed', last_change = 'ack', 'acknowledged', 'open') AS state,
            if(last_change = 'close', last_verdict, '') AS verdict,
            last_assignee AS assignee
        FROM filtered
        LEFT JOIN done USING (alert_id)
        WHERE multiIf(
                {state:String} = 'any', true,
                {state:String} = 'closed', state = 'closed',
                {state:String} = 'suppressed', silenced AND state != 'closed',
                {state:String} = 'active', NOT silenced AND state != 'closed',
                NOT silenced AND state = {state:String})
            AND ({verdict:String} = '' OR verdict = {verdict:String})
            AND ({by_assignee:String} = '' OR assignee = {assignee:String}))
