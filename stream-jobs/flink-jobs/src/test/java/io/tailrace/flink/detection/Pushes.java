package io.tailrace.flink.detection;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/** Creates pushes of rules for tests. */
public final class Pushes {

    public static final String REFUSED_LOGIN =
            """
            title: Refused login
            name: refused_login
            id: 11111111-1111-4111-8111-111111111111
            level: low
            logsource:
              category: database
            detection:
              selection:
                event_class: connection
                outcome: failure
              condition: selection
            """;

    /** The same rule without a correlation that uses it, so that it raises alerts. */
    public static final String ANY_REFUSED_LOGIN = REFUSED_LOGIN
            .replace("name: refused_login\n", "")
            .replace("11111111-1111-4111-8111", "44444444-4444-4444-8444");

    /** Fires at ten refused logins of a user within ten minutes. */
    public static final String BRUTE_FORCE =
            """
            title: Brute force
            name: brute_force
            id: 22222222-2222-4222-8222-222222222222
            level: high
            tags: [attack.t1110]
            correlation:
              type: event_count
              rules: [refused_login]
              group-by: [user]
              timespan: 10m
              condition:
                gte: 10
            """;

    /** Fires when brute force hits two users. */
    public static final String TWO_USERS =
            """
            title: Brute force against several users
            id: 33333333-3333-4333-8333-333333333333
            level: critical
            correlation:
              generate: true
              type: value_count
              rules: [brute_force]
              timespan: 1h
              condition:
                field: user
                gte: 2
            """;

    private Pushes() {}

    public static String json(String id, Map<String, String> files) throws Exception {
        return new ObjectMapper()
                .writeValueAsString(Map.of(
                        "version",
                        1,
                        "push_id",
                        id,
                        "pushed_at",
                        "2026-11-21T08:00:00Z",
                        "pushed_by",
                        "ann@desk",
                        "files",
                        files));
    }

    public static String bruteForce(String id) throws Exception {
        return json(
                id,
                Map.of("a.yml", REFUSED_LOGIN, "b.yml", BRUTE_FORCE, "c.yml", TWO_USERS, "d.yml", ANY_REFUSED_LOGIN));
    }
}
