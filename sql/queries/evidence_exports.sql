-- All earlier exports of evidence: user, period, and the SHA-256 of the manifest.
SELECT at, actor, framework, period_from, period_to, file, files, rows AS result_rows, manifest_sha256, key_fingerprint,
    version, account AS with_account
FROM tailrace.evidence_exports
ORDER BY at
