-- Days of the period without a signed review; PCI DSS 10.4.1 requires a daily review. Reviews of some servers also
-- count, because their scope is free text. A review that another one corrects does not count; the correcting review
-- counts for its days.
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
