package io.tailrace.spans;

import io.opentelemetry.proto.common.v1.KeyValue;
import io.tailrace.errorlog.MessageMask;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * Masks the texts of one span, so that no literal of a statement is stored, wherever the span quotes it.
 *
 * <p>Statements are masked. Of the attributes under {@code db.}, only those are kept whose values are free of
 * literals according to the conventions. Quoted texts and long numbers are removed from messages and stack traces.
 * docs/TRACES.md lists the rules. Not thread-safe.
 */
final class SpanTextMask {

    private static final String MASKED = "?";
    private static final String DATABASE = "db.";

    /** Attributes under {@code db.} whose values come from the schema or the configuration, not from a statement. */
    private static final Set<String> KEPT = Set.of(
            // spotless:off
            "db.system", "db.system.name", "db.name", "db.namespace", "db.user", "db.operation", "db.operation.name",
            "db.operation.batch.size", "db.sql.table", "db.collection.name", "db.stored_procedure.name",
            "db.response.status_code", "db.response.returned_rows", "db.client.connection.pool.name",
            "db.client.connection.state", "db.instance.id", "db.rows_affected", "db.type", "db.instance",
            "db.jdbc.driver_classname", "db.mysql.instance.address");
            // spotless:on

    private static final Set<String> STATEMENTS = Set.of("db.query.text", "db.statement");
    private static final Set<String> COMMAND_LINES = Set.of("process.command_line", "process.command_args");
    private static final List<String> MESSAGES = List.of("message", "stacktrace", "description", "error", "stack");
    // Possessive, because Java matches other loops over groups recursively, and long texts would overflow the stack.
    private static final Pattern LONG_NUMBER = Pattern.compile("\\d(?:[ -]?+\\d){8,}+");
    private static final Pattern STATEMENT = Pattern.compile(
            "\\s*+(?:/\\*.*?\\*/\\s*+|\\(\\s*+)*+(?:select|insert|update|delete|replace|with|call|set|create|alter|grant|load|do"
                    + "|execute|prepare|explain|drop|revoke)\\s.*",
            Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private final StatementMask mask;
    private final MessageMask safeText = new MessageMask();
    private String raw = "";
    private String masked = "";

    SpanTextMask(StatementMask mask) {
        this.mask = mask;
    }

    /** Starts the next span. */
    void start(DatabaseCall call, MaskedStatement statement) {
        raw = call.statement().toStringUtf8().strip();
        masked = statement.text();
    }

    /** Masks the attributes of a span, a link or a resource. */
    Map<String, String> attributes(List<KeyValue> attributes) {
        Map<String, String> texts = new LinkedHashMap<>(2 * attributes.size());
        for (KeyValue attribute : attributes) {
            texts.put(name(attribute.getKey()), value(attribute));
        }
        return texts;
    }

    /** Masks the attributes of an event. An event is a log line or an exception, so each of its texts is a message. */
    Map<String, String> eventAttributes(List<KeyValue> attributes) {
        Map<String, String> texts = new LinkedHashMap<>(2 * attributes.size());
        for (KeyValue attribute : attributes) {
            texts.put(name(attribute.getKey()), eventValue(attribute));
        }
        return texts;
    }

    private String eventValue(KeyValue attribute) {
        if ("exception.type".equals(attribute.getKey())) {
            return value(attribute);
        }
        String text = value(attribute, this::message);
        return switch (attribute.getValue().getValueCase()) {
            case INT_VALUE, DOUBLE_VALUE -> message(text);
            default -> text;
        };
    }

    private String value(KeyValue attribute) {
        return value(attribute, isMessage(attribute.getKey()) ? this::message : this::name);
    }

    /** @param mask applied to each text, also in lists and maps, before these become JSON */
    private String value(KeyValue attribute, UnaryOperator<String> mask) {
        String key = attribute.getKey();
        if (key.startsWith(DATABASE)) {
            return ofDatabase(key, attribute);
        }
        if (COMMAND_LINES.contains(key)) {
            return MASKED;
        }
        return AttributeFormatter.of(attribute.getValue(), mask);
    }

    private String ofDatabase(String key, KeyValue attribute) {
        if (STATEMENTS.contains(key)) {
            return masked;
        }
        return KEPT.contains(key) ? AttributeFormatter.of(attribute.getValue(), this::name) : MASKED;
    }

    private static boolean isMessage(String key) {
        for (String suffix : MESSAGES) {
            if (key.endsWith(suffix)) {
                return true;
            }
        }
        return false;
    }

    /** Masks a text that is normally a name, if it is or contains a statement. */
    String name(String text) {
        String cut = AttributeFormatter.cut(text);
        if (!raw.isEmpty() && cut.length() >= raw.length() && cut.contains(raw)) {
            return cut.replace(raw, masked);
        }
        return mayHoldLiteral(cut) && STATEMENT.matcher(cut).matches()
                ? mask.text(cut.getBytes(StandardCharsets.UTF_8))
                : cut;
    }

    /** Returns whether a text may contain a literal. The check must be cheap, because it applies to every text. */
    private static boolean mayHoldLiteral(String text) {
        boolean blank = false;
        boolean literal = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            blank |= c <= ' ';
            literal |= c == '\'' || c == '"' || c >= '0' && c <= '9';
        }
        return blank && literal;
    }

    /** Masks a message, which may quote a statement or values of rows. */
    String message(String text) {
        if (text.isEmpty()) {
            return text;
        }
        String named = name(text);
        byte[] bytes = named.getBytes(StandardCharsets.UTF_8);
        return LONG_NUMBER.matcher(safeText.of(bytes, 0, bytes.length)).replaceAll("?");
    }
}
