"""A generator of two days of a shop: logs of five database servers, spans and snapshots, with six stories.

Pure and deterministic: the same times and seed give the same bytes. `story.write` is the entry.
"""
