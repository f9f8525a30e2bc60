-- Reviews that overlap the period: reviewer, scope, time of the signature, and findings. `servers_reviewed` are those that the
-- review counts for; `not judged` if it does not state them, as older reviews do not: then it makes no day reviewed.
-- `corrected_by` is the first review that corrects it: a corrected review does not count.
-- Parameters: from, to.
SELECT reviews.at AS signed_at, actor AS reviewer, scope AS reviewed, period_from AS reviewed_from, period_to AS reviewed_to,
    finding, ifNull(toString(corrects), '') AS corrects_review, toString(review_id) AS review, account AS signed_with_account,
    multiIf(covers = '', 'not judged', covers = 'all servers', covers, arrayStringConcat(servers, ', ')) AS servers_reviewed,
    corrections[toString(review_id)] AS corrected_by, servers
FROM tailrace.reviews
CROSS JOIN (
    SELECT CAST((groupArray(corrected), groupArray(by_review)), 'Map(String, String)') AS corrections
    FROM (
        SELECT toString(assumeNotNull(corrects)) AS corrected, argMin(toString(review_id), (reviews.at, review_id)) AS by_review
        FROM tailrace.reviews WHERE corrects IS NOT NULL GROUP BY corrected)) AS all_corrections
WHERE period_from < {to:DateTime('UTC')} AND period_to > {from:DateTime('UTC')}
ORDER BY signed_at, review
