-- Each legal hold with its state. A release counts only if another person than the one who requested it confirmed it later, so
-- neither a row that skips a step nor a person alone can end a hold.
CREATE VIEW IF NOT EXISTS tailrace.legal_holds {on_cluster}
SQL SECURITY INVOKER
AS
SELECT
    hold_id,
    case_name,
    selector,
    placed_at,
    placed_by,
    placed_because,
    multiIf(notEmpty(confirmations), 'released', notEmpty(requests), 'release requested', 'active') AS state,
    if(empty(requests), NULL, requests[1].1) AS requested_at,
    if(empty(requests), '', requests[1].2) AS requested_by,
    if(empty(requests), '', requests[1].3) AS requested_because,
    if(empty(confirmations), NULL, confirmations[1].1) AS released_at,
    if(empty(confirmations), '', confirmations[1].2) AS released_by
FROM
(
    SELECT
        hold_id,
        argMinIf(case_name, at, action = 'place') AS case_name,
        argMinIf(selector, at, action = 'place') AS selector,
        minIf(at, action = 'place') AS placed_at,
        argMinIf(actor, at, action = 'place') AS placed_by,
        argMinIf(reason, at, action = 'place') AS placed_because,
        arraySort(groupArrayIf((at, actor, reason), action = 'request_release')) AS requests,
        arrayFilter(
            each -> arrayExists(
                earlier -> earlier.1 < each.1
                    AND lowerUTF8(trimBoth(earlier.2)) != lowerUTF8(trimBoth(each.2)),
                requests
            ),
            arraySort(groupArrayIf((at, actor, reason), action = 'confirm_release'))
        ) AS confirmations
    FROM tailrace.legal_hold_actions
    GROUP BY hold_id
    HAVING countIf(action = 'place') > 0
)
COMMENT 'Legal holds with their state: active, release requested, released'
