-- Every export of evidence before this one: who, of which period, and the sum of its manifest.
SELECT at, actor, framework, period_from, period_to, file, files, rows AS result_rows, manifest_sha256, key_fingerprint,
    version, account AS with_account
FROM tailrace.evidence_exports
ORDER BY at
