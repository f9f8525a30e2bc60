            match(lower(command), '^(proxy_|failed_)?connect$|^change.?user$|^failed login$')
