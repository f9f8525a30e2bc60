package io.tailrace.spans;

import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import io.tailrace.tags.StatementTags;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Determines the endpoint of a span: method and route of a request, service and method of a remote call, or the tags
 * in a statement's comment ({@code route}, or {@code controller} and {@code action}).
 */
final class Endpoints {

    private Endpoints() {}

    /**
     *
     * @param name the span's masked name
     * @param mask applied to texts that are normally names
     * @return empty if the span has no endpoint
     */
    static String of(Span span, String name, StatementTags tags, UnaryOperator<String> mask) {
        return switch (span.getKind()) {
            case SPAN_KIND_SERVER, SPAN_KIND_CONSUMER -> mask.apply(served(span, name));
            default -> ofComment(tags.tags());
        };
    }

    private static String served(Span span, String name) {
        String method = "";
        String route = "";
        String service = "";
        String procedure = "";
        for (KeyValue attribute : span.getAttributesList()) {
            switch (attribute.getKey()) {
                case "http.request.method", "http.method" -> method =
                        attribute.getValue().getStringValue();
                case "http.route" -> route = attribute.getValue().getStringValue();
                case "rpc.service" -> service = attribute.getValue().getStringValue();
                case "rpc.method" -> procedure = attribute.getValue().getStringValue();
                default -> {}
            }
        }
        if (!route.isEmpty()) {
            return (method + ' ' + route).strip();
        }
        return service.isEmpty() ? name : service + '/' + procedure;
    }

    private static String ofComment(Map<String, String> tags) {
        String route = tags.getOrDefault("route", tags.getOrDefault("endpoint", ""));
        if (!route.isEmpty()) {
            return route;
        }
        String controller = tags.getOrDefault("controller", tags.getOrDefault("namespaced_controller", ""));
        String action = tags.getOrDefault("action", "");
        return controller.isEmpty() || action.isEmpty() ? controller + action : controller + '#' + action;
    }
}
