-- Reviews that overlap the period: reviewer, scope, time of the signature, and findings.
-- Parameters: from, to.
SELECT reviews.at AS signed_at, actor AS reviewer, scope AS reviewed, period_from AS reviewed_from, period_to AS reviewed_to,
    finding, ifNull(toString(corrects), '') AS corrects_review, toString(review_id) AS review, account AS signed_with_account
FROM tailrace.reviews
WHERE period_from < {to:DateTime('UTC')} AND period_to > {from:DateTime('UTC')}
ORDER BY signed_at, review
