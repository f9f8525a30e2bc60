package io.tailrace.plan.reader;

import io.tailrace.lexer.ByteText;
import io.tailrace.plan.Plan;
import io.tailrace.plan.json.JsonDocument;
import io.tailrace.plan.json.JsonReader;
import io.tailrace.plan.json.JsonValue;
import io.tailrace.plan.json.JsonValue.JsonObject;
import io.tailrace.plan.json.JsonValue.JsonString;
import io.tailrace.plan.json.JsonValue.Member;
import io.tailrace.plan.json.RepairKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Finds plans in a text: consecutive documents or one per line, in a client's output (after {@code EXPLAIN: },
 * between table borders, on one line with {@code \n} for line feeds), as a member of other documents; rows with tabs
 * or borders; {@code # explain:} lines of a slow log. Not thread-safe.
 */
public final class PlanDocuments {

    /** Receives the results in the order of the text. */
    public interface Listener {

        /**
         * Receives a plan.
         *
         * @param line line of its first byte, from 1
         * @param offset offset of its first byte
         */
        void plan(Plan plan, int line, int offset);

        /** Receives the position of a text that should be a plan and is not. */
        void problem(String message, int line, int offset);
    }

    private static final byte[] SLOW_LOG_ROW = ByteText.ascii("# explain: ");
    private static final byte[] ERROR = ByteText.ascii("ERROR ");
    private static final String NO_PLAN =
            "a JSON object with none of query_block, query_plan and operation is not a plan";
    /** Maximum depth of enclosing documents in which a plan is searched for. */
    private static final int MAX_ENVELOPE_DEPTH = 3;
    /** Maximum number of unclosed brackets in one text. */
    private static final int MAX_UNEXPECTED = 20;
    /** Longest line of a server's message that is quoted, bytes. */
    private static final int MAX_MESSAGE_LENGTH = 300;

    private final JsonReader json = new JsonReader();
    private final PlanReader plans = new PlanReader();
    private final TabularPlanReader rows = new TabularPlanReader();

    private byte[] in;
    private int end;
    private Listener listener;
    private int line;
    private int counted;
    private final List<String> lines = new ArrayList<>();
    private int linesFrom;
    private int unexpected;

    /** Reads a whole text. */
    public void read(byte[] bytes, Listener listener) {
        in = bytes;
        end = bytes.length;
        this.listener = listener;
        line = 1;
        counted = 0;
        unexpected = 0;
        lines.clear();
        int at = 0;
        while (at < end) {
            at = line(at, Math.min(end, lineFeed(at)));
        }
        endRows();
        in = null;
    }

    private int lineFeed(int from) {
        int feed = ByteText.lineFeed(in, from, end);
        return feed < 0 ? end : feed;
    }

    /** Reads a line, or a document that starts on it; returns the offset after it. */
    private int line(int from, int to) {
        String row = row(from, to);
        if (row != null) {
            addRow(row, from);
            return to + 1;
        }
        if (!isBorder(from, to)) {
            endRows();
        }
        if (ByteText.startsWith(in, from, to, ERROR)) {
            String message = ByteText.utf8(in, from, Math.min(to, from + MAX_MESSAGE_LENGTH));
            listener.problem("not a plan but the server's " + message, lineOf(from), from);
            return to + 1;
        }
        int brace = brace(from, to);
        return brace < 0 ? to + 1 : document(from, brace, to);
    }

    /** Returns the offset of the first brace of the line that may open an object, or -1. */
    private int brace(int from, int to) {
        for (int i = from; i < to; i++) {
            if (in[i] == '{' && opens(i, to)) {
                return i;
            }
        }
        return -1;
    }

    private boolean opens(int brace, int to) {
        int i = ByteText.skipBlanks(in, brace + 1, to);
        return i >= to || in[i] == '"' || in[i] == '}' || isEscapedFeed(brace, to);
    }

    private boolean isEscapedFeed(int brace, int to) {
        return brace + 2 < to && in[brace + 1] == '\\' && in[brace + 2] == 'n';
    }

    private int document(int lineFrom, int brace, int lineTo) {
        if (isEscapedFeed(brace, lineTo)) {
            byte[] text = unescaped(brace, lineTo);
            found(json.read(text, 0, text.length), lineFrom, brace);
            return lineTo + 1;
        }
        JsonDocument document = json.read(in, brace, end);
        boolean isPlan = found(document, lineFrom, brace);
        return isPlan || !isUnexpected(document) ? document.to() : lineTo + 1;
    }

    /**
     * Returns whether a bracket is never closed, as in the text of a statement, so that plans may follow it. Only a
     * limited number is skipped, because the time would be quadratic otherwise.
     */
    private boolean isUnexpected(JsonDocument document) {
        boolean truncated = document.repairs().count(RepairKind.TRUNCATED) > 0;
        unexpected += truncated ? 1 : 0;
        return truncated && unexpected <= MAX_UNEXPECTED;
    }

    private boolean found(JsonDocument document, int lineFrom, int brace) {
        Optional<Plan> plan = plan(document, MAX_ENVELOPE_DEPTH);
        if (plan.isPresent()) {
            listener.plan(plan.get(), lineOf(brace), brace);
        } else if (ByteText.skipBlanks(in, lineFrom, brace) == brace) {
            listener.problem(NO_PLAN, lineOf(brace), brace);
        }
        return plan.isPresent();
    }

    /** Returns the plan that a document is or contains. */
    private Optional<Plan> plan(JsonDocument document, int deepest) {
        Optional<Plan> plan = plans.plan(document);
        if (plan.isPresent() || deepest == 0 || !(document.value() instanceof JsonObject object)) {
            return plan;
        }
        return object.members().stream()
                .map(Member::value)
                .map(value -> held(value, document, deepest - 1))
                .flatMap(Optional::stream)
                .findFirst();
    }

    private Optional<Plan> held(JsonValue value, JsonDocument around, int deepest) {
        if (value instanceof JsonString string && string.text().startsWith("{")) {
            byte[] text = ByteText.bytes(string.text());
            return plan(json.read(text, 0, text.length), deepest);
        }
        return value instanceof JsonObject
                ? plan(
                        new JsonDocument(value, around.from(), around.to(), around.repairs(), around.doubtful()),
                        deepest)
                : Optional.empty();
    }

    /**
     * Decodes the escapes that {@code mysql --batch} writes on one line: {@code \n}, {@code \t}, {@code \0} and
     * {@code \\}.
     */
    private byte[] unescaped(int from, int to) {
        byte[] out = new byte[to - from];
        int length = 0;
        for (int i = from; i < to; i++) {
            int escaped = in[i] == '\\' && i + 1 < to ? "nt0\\".indexOf(in[i + 1]) : -1;
            out[length++] = escaped < 0 ? in[i] : (byte) "\n\t\0\\".charAt(escaped);
            i += escaped < 0 ? 0 : 1;
        }
        return Arrays.copyOf(out, length);
    }

    /** Returns a row of EXPLAIN with tabs between its cells, or null. */
    private String row(int from, int to) {
        int start = ByteText.startsWith(in, from, to, SLOW_LOG_ROW) ? from + SLOW_LOG_ROW.length : from;
        int stop = ByteText.withoutLineEnd(in, start, to);
        if (start < stop && in[start] == '|') {
            return borderedRow(start, stop);
        }
        boolean may = start < stop && (ByteText.isDigit(in[start]) || in[start] == 'i' || in[start] == 'N');
        String text = may ? ByteText.utf8(in, start, stop) : "";
        return may && (TabularPlanReader.isHeader(text) || TabularPlanReader.isRow(text)) ? text : null;
    }

    private String borderedRow(int from, int to) {
        String[] cells = ByteText.utf8(in, from, to).split("\\|", -1);
        StringBuilder row = new StringBuilder();
        for (int i = 1; i < cells.length - 1; i++) {
            row.append(i == 1 ? "" : "\t").append(cells[i].strip());
        }
        String text = row.toString();
        return TabularPlanReader.isHeader(text) || TabularPlanReader.isRow(text) ? text : null;
    }

    private boolean isBorder(int from, int to) {
        return from < to && in[from] == '+';
    }

    private void addRow(String row, int from) {
        if (TabularPlanReader.isHeader(row)) {
            endRows();
        }
        if (lines.isEmpty()) {
            linesFrom = from;
        }
        lines.add(row);
    }

    private void endRows() {
        if (lines.isEmpty()) {
            return;
        }
        int from = linesFrom;
        rows.read(lines).ifPresent(plan -> listener.plan(plan, lineOf(from), from));
        lines.clear();
    }

    /** Returns the line of an offset. Offsets must be ascending, so that no byte is counted twice. */
    private int lineOf(int offset) {
        while (counted < offset) {
            line += in[counted++] == '\n' ? 1 : 0;
        }
        return line;
    }
}
