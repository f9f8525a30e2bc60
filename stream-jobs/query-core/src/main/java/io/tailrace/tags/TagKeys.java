package io.tailrace.tags;

import java.util.Set;

/**
 * The keys whose values are kept. A comment is text like any other: a piece of a statement that somebody commented out
 * looks like a tag, too. So only what is known to name code, a service or a request is kept.
 */
final class TagKeys {

    /** The W3C trace context of sqlcommenter; it becomes the ids of trace and span. */
    static final String TRACEPARENT = "traceparent";

    // spotless:off
    private static final Set<String> KNOWN = Set.of(
            // sqlcommenter: Django, Flask, Express, Hibernate, Spring, Laravel, …
            "action", "application", "controller", "db_driver", "framework", "route",
            // Rails query logs and marginalia
            "app", "job", "line", "namespaced_controller", "namespaced_job", "request_id", "source_location",
            // Datadog's database monitoring
            "dddb", "dddbs", "dde", "ddh", "ddprs", "ddps", "ddpv",
            // What teams add themselves
            "caller", "component", "endpoint", "env", "environment", "feature", "file", "function", "handler", "method",
            "module", "operation", "queue", "service", "task", "team", "version", "worker");
    // spotless:on

    private TagKeys() {}

    static boolean isKnown(String key) {
        return KNOWN.contains(key);
    }
}
