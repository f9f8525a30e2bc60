{#- The earlier period with which a time range is compared, for a WITH after `range_start` and `range_end`: `shown`, the seconds of the
    range until now, and `before_start` and `before_end`. It is the period of the same length before the range. A range that begins
    at midnight (UTC) is compared with the same hours of the days before: today until 9:44 with yesterday until 9:44.
    parts/change.sql and TimeRange.before (tailrace.reading.time_range) do the same. -#}
    greatest(0, least(range_end, now('UTC')) - range_start) AS shown,
    range_start - if(toUnixTimestamp(range_start) % 86400 = 0, intDiv(shown + 86399, 86400) * 86400, shown) AS before_start,
    before_start + shown AS before_end
