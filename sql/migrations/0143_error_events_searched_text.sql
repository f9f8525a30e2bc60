-- As 0142, for the messages of error logs.
ALTER TABLE tailrace.error_events {on_cluster}
    ADD INDEX IF NOT EXISTS searched_text lowerUTF8(message) TYPE ngrambf_v1(3, 8192, 3, 0) GRANULARITY 1
