package io.tailrace.tags;

import java.util.Set;

/**
 * The keys whose values are stored. A comment may contain any text, also a part of a statement that was commented out
 * and resembles a tag. So only keys that are known to name code, a service or a request are accepted.
 */
final class TagKeys {

    /** The W3C trace context of sqlcommenter, from which the ids of trace and span are taken. */
    static final String TRACEPARENT = "traceparent";

    // spotless:off
    private static final Set<String> KNOWN = Set.of(
            // sqlcommenter: Django, Flask, Express, Hibernate, Spring, Laravel, …
            "action", "application", "controller", "db_driver", "framework", "route",
            // Rails query logs and marginalia
            "app", "job", "line", "namespaced_controller", "namespaced_job", "request_id", "source_location",
            // Datadog's database monitoring
            "dddb", "dddbs", "dde", "ddh", "ddprs", "ddps", "ddpv",
            // Common custom keys
            "caller", "component", "endpoint", "env", "environment", "feature", "file", "function", "handler", "method",
            "module", "operation", "queue", "service", "task", "team", "version", "worker");
    // spotless:on

    private TagKeys() {}

    static boolean isKnown(String key) {
        return KNOWN.contains(key);
    }
}
