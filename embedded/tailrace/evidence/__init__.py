"""Evidence for auditors: signed reviews, and bundles with the content and the limits of the logs of a period.

`frameworks/` lists the requirements and their queries (sql/queries/evidence_*.sql). `export` creates a bundle
from them, `page` and `pdf` its reports, and `signing` its signature. `verify` checks one without any server.
"""
