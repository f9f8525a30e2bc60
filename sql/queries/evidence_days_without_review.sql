-- Days of the period that no signed review touches: a day is what PCI DSS 10.4.1 asks for. Reviews of some servers alone
-- count, too: their scope is text that people wrote. A review that another one corrects counts no longer: what that one says
-- of the days does.
-- Parameters: from, to.
SELECT toDate(toStartOfDay({from:DateTime('UTC')}) + INTERVAL number DAY) AS day_without_review
FROM numbers(toUInt64(dateDiff('day', {from:DateTime('UTC')}, {to:DateTime('UTC')} - INTERVAL 1 SECOND) + 1))
WHERE day_without_review NOT IN (
    SELECT arrayJoin(arrayMap(n -> toDate(period_from) + n,
        range(toUInt64(dateDiff('day', period_from, period_to - INTERVAL 1 SECOND) + 1))))
    FROM tailrace.reviews
    WHERE period_from < {to:DateTime('UTC')} AND period_to > {from:DateTime('UTC')}
        AND review_id NOT IN (SELECT assumeNotNull(corrects) FROM tailrace.reviews WHERE corrects IS NOT NULL))
ORDER BY day_without_review
