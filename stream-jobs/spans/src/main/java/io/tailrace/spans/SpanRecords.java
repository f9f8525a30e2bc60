package io.tailrace.spans;

import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import io.tailrace.event.TraceSpan;
import io.tailrace.statement.StatementTables;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Converts spans into records. The spans of one resource share its attributes. Not thread-safe. */
final class SpanRecords {

    private static final String SERVICE_NAME = "service.name";

    private final StatementMask mask = new StatementMask();
    private final SpanTextMask texts = new SpanTextMask(mask);
    private Map<String, String> resource = Map.of();
    private StatementTables tables = MaskedStatement.NONE.tables();

    /** Starts the next resource. */
    void startResource(Resource next) {
        texts.start(DatabaseCall.NONE, MaskedStatement.NONE);
        resource = texts.attributes(next.getAttributesList());
    }

    /** Returns the tables of the latest record's statement. */
    StatementTables tables() {
        return tables;
    }

    TraceSpan record(Span span, InstrumentationScope scope) {
        DatabaseCall call = DatabaseCall.of(span.getAttributesList());
        MaskedStatement statement = mask.mask(call);
        texts.start(call, statement);
        TraceSpan record = new TraceSpan();
        setSpan(record, span, scope);
        setEvents(record, span.getEventsList());
        setLinks(record, span.getLinksList());
        tables = statement.tables();
        record.setQueryId(statement.queryId());
        record.setRuleSet(statement.ruleSet());
        record.setFingerprint(statement.text());
        record.setDatabase(call.database());
        record.setEndpoint(Endpoints.of(span, record.getSpanName(), statement.tags(), texts::name));
        return record;
    }

    private void setSpan(TraceSpan record, Span span, InstrumentationScope scope) {
        record.setTimestamp(span.getStartTimeUnixNano());
        record.setTraceId(SpanIds.text(span.getTraceId()));
        record.setSpanId(SpanIds.text(span.getSpanId()));
        record.setParentSpanId(SpanIds.text(span.getParentSpanId()));
        record.setTraceState(AttributeFormatter.cut(span.getTraceState()));
        record.setSpanName(texts.name(span.getName()));
        record.setSpanKind(kind(span.getKind()));
        record.setServiceName(resource.getOrDefault(SERVICE_NAME, ""));
        record.setResourceAttributes(resource);
        record.setScopeName(AttributeFormatter.cut(scope.getName()));
        record.setScopeVersion(AttributeFormatter.cut(scope.getVersion()));
        record.setSpanAttributes(texts.attributes(span.getAttributesList()));
        record.setDuration(Math.max(0, span.getEndTimeUnixNano() - span.getStartTimeUnixNano()));
        record.setStatusCode(code(span.getStatus()));
        record.setStatusMessage(texts.message(span.getStatus().getMessage()));
    }

    private void setEvents(TraceSpan record, List<Span.Event> events) {
        List<Long> times = new ArrayList<>(events.size());
        List<String> names = new ArrayList<>(events.size());
        List<Map<String, String>> attributes = new ArrayList<>(events.size());
        for (Span.Event event : events) {
            times.add(event.getTimeUnixNano());
            names.add(texts.message(event.getName()));
            attributes.add(texts.eventAttributes(event.getAttributesList()));
        }
        record.setEventsTimestamp(times);
        record.setEventsName(names);
        record.setEventsAttributes(attributes);
    }

    private void setLinks(TraceSpan record, List<Span.Link> links) {
        record.setLinksTraceId(
                links.stream().map(link -> SpanIds.text(link.getTraceId())).toList());
        record.setLinksSpanId(
                links.stream().map(link -> SpanIds.text(link.getSpanId())).toList());
        record.setLinksTraceState(links.stream()
                .map(link -> AttributeFormatter.cut(link.getTraceState()))
                .toList());
        record.setLinksAttributes(links.stream()
                .map(link -> texts.attributes(link.getAttributesList()))
                .toList());
    }

    /** Returns the name that the ClickHouse exporter writes. */
    private static String kind(Span.SpanKind kind) {
        return switch (kind) {
            case SPAN_KIND_INTERNAL -> "Internal";
            case SPAN_KIND_SERVER -> "Server";
            case SPAN_KIND_CLIENT -> "Client";
            case SPAN_KIND_PRODUCER -> "Producer";
            case SPAN_KIND_CONSUMER -> "Consumer";
            default -> "Unspecified";
        };
    }

    private static String code(Status status) {
        return switch (status.getCode()) {
            case STATUS_CODE_OK -> "Ok";
            case STATUS_CODE_ERROR -> "Error";
            default -> "Unset";
        };
    }
}
