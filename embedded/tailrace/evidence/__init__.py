"""Evidence for auditors: signed reviews, and bundles that say what the logs of a period show and what not.

`frameworks/` names the requirements and their queries (sql/queries/evidence_*.sql); `export` makes a bundle
of them, `page` and `pdf` what people read, `signing` its signature; `verify` checks one without any server.
"""
