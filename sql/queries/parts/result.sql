    multiIf(status != 0, concat('error ', toString(status)), has_failed, 'error', event_outcome)
