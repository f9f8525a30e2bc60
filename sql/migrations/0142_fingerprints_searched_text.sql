-- A search for a text reads the statements that can contain it: a filter of the three-letter sequences of each granule. A filter
-- of 8 KiB has the 5,000 sequences of a granule of statements with one false answer in 1,000. ClickHouse's text index prunes the
-- same granules, is three times as large as the texts and costs twice the insert (docs/adr/0046).
ALTER TABLE tailrace.fingerprints {on_cluster}
    ADD INDEX IF NOT EXISTS searched_text lowerUTF8(fingerprint) TYPE ngrambf_v1(3, 8192, 3, 0) GRANULARITY 1
