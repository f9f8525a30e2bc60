package io.tailrace.errorlog;

import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import io.tailrace.lexer.ByteText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Masks a message for display: statements that it quotes become fingerprints, and values of rows are removed. If
 * lines of one entry have separate headers, these are removed too. Not thread-safe.
 */
public final class MessageMask {

    /** Longest text, characters. */
    static final int MAX_LENGTH = 64 << 10;

    private static final byte[] DEADLOCK = ByteText.ascii("eadlock detected");
    private static final byte[] FIELD = ByteText.ascii(": len ");
    private static final byte[] HEX = ByteText.ascii("; hex ");
    private static final byte[] ASC = ByteText.ascii("; asc ");

    private final Fingerprinter fingerprinter = new Fingerprinter();
    private final QuotedValueMask values = new QuotedValueMask(fingerprinter);
    private final QuotedStatementTracker statement = new QuotedStatementTracker();
    private final ErrorLine header = new ErrorLine();
    private final StringBuilder out = new StringBuilder();
    private final List<NormalizedStatement> statements = new ArrayList<>();
    private byte[] in;
    private int end;
    private int statementFrom;
    private int statementTo;
    private boolean cut;
    private boolean dump;
    /** No literal opens between the current line and this index. */
    private int nextLiteral;

    /** Returns the masked message in the range, without blanks at its ends. */
    public String of(byte[] bytes, int from, int to) {
        in = bytes;
        end = ByteText.trimBlanks(bytes, from, to);
        out.setLength(0);
        statements.clear();
        statement.reset();
        statementFrom = -1;
        cut = false;
        dump = isDump(from);
        nextLiteral = from;
        int line = from;
        if (namesAnAccount(from)) {
            plain(from, end);
            line = end;
        }
        while (line < end && out.length() < MAX_LENGTH) {
            int next = Math.min(ByteText.lineFeed(bytes, line, end) + 1, end);
            line = line(line, ByteText.withoutLineEnd(bytes, line, next), next, line == from);
        }
        flush();
        cut = line < end || out.length() > MAX_LENGTH;
        out.setLength(Math.min(out.length(), MAX_LENGTH));
        in = null;
        return out.toString().strip();
    }

    /**
     * Returns whether the message is a deadlock's report, a crash or the monitor's output: their lines identify what
     * they quote.
     */
    private boolean isDump(int from) {
        int to = ByteText.lineFeed(in, from, end);
        return MessageBoundaries.startsCrash(in, from, to)
                || MessageBoundaries.isAssertion(in, from, to)
                || QuotedStatementTracker.isRule(in, from, to)
                || ByteText.indexOf(in, from, to, DEADLOCK) >= 0;
    }

    /** Returns whether the message is one line with names of a client, which may look like a quoted statement. */
    private boolean namesAnAccount(int from) {
        boolean one = end - from < MAX_LENGTH && ByteText.lineFeed(in, from, end) == end;
        return one && QuotedValueMask.namesAnAccount(ByteText.utf8(in, from, end));
    }

    /** Returns whether the message was longer than {@link #MAX_LENGTH}. */
    boolean isCut() {
        return cut;
    }

    /** Returns the quoted statements in their order. */
    List<NormalizedStatement> statements() {
        return statements;
    }

    /** Writes one line; returns the index at which to continue. */
    private int line(int from, int to, int next, boolean first) {
        int text = first || statement.insideLiteral() ? from : message(from, to);
        if (text > from) {
            statement.reset();
        }
        int at = statement.line(in, text, to);
        if (at == text && statement.isOpen()) {
            statementFrom = statementFrom < 0 ? text : statementFrom;
            statementTo = to;
            return next;
        }
        flush();
        if (at < to) {
            plain(text, at);
            statementFrom = at;
            statementTo = to;
            return next;
        }
        int quote = MessageBoundaries.quotedStatement(in, text, to);
        if (quote < to) {
            return quoted(text, quote);
        }
        int guessed = dump ? -1 : guessedStatement(text, to);
        if (guessed >= 0) {
            plain(text, guessed);
            fingerprint(guessed, end);
            return end;
        }
        QuoteTracker.Opening value = dump || next == end ? null : QuoteTracker.opening(in, text, to);
        if (value != null) {
            return value(text, value, next);
        }
        plain(text, to);
        out.append('\n');
        return next;
    }

    /**
     * Returns the index of what may be a statement with a literal or comment on this line or a later one; -1 if there
     * is none.
     */
    private int guessedStatement(int from, int to) {
        int lineTo = Math.min(to, from + MAX_LENGTH);
        int at = QuotedValueMask.statement(new String(in, from, lineTo - from, StandardCharsets.ISO_8859_1));
        return at >= 0 && literalFrom(from + at) < end ? from + at : -1;
    }

    /**
     * Returns the index of the next literal or comment, or the end. It is stored, so that many lines need only one
     * search.
     */
    private int literalFrom(int from) {
        nextLiteral = Math.max(nextLiteral, from);
        while (nextLiteral < end && !opensLiteral(nextLiteral)) {
            nextLiteral++;
        }
        return nextLiteral;
    }

    private boolean opensLiteral(int i) {
        return switch (in[i]) {
            case '\'', '"', '#', '*' -> true;
            case '-' -> i + 1 < end && in[i + 1] == '-';
            default -> false;
        };
    }

    /** Returns the index of the message of a line with a separate header. */
    private int message(int from, int to) {
        return header.read(in, from, to) && header.levelTo > header.levelFrom ? header.messageFrom : from;
    }

    private void flush() {
        if (statementFrom >= 0) {
            fingerprint(statementFrom, statementTo);
            out.append('\n');
        }
        statementFrom = -1;
    }

    private void fingerprint(int from, int to) {
        NormalizedStatement shape = fingerprinter.statement(in, from, to);
        statements.add(shape);
        out.append(shape.fingerprint());
    }

    /** Writes a quoted statement, which extends to the message's end or to the server's text after it. */
    private int quoted(int from, int quote) {
        plain(from, quote);
        byte mark = in[quote];
        boolean quotes = mark == '\'' || mark == '"';
        int start = quotes ? quote + 1 : quote;
        int tail = quotes ? MessageBoundaries.tail(in, start, end) : -1;
        int stop = tail >= 0 ? tail : end;
        while (tail < 0 && quotes && stop > start && isClosing(in[stop - 1])) {
            stop--;
        }
        fingerprint(start, stop);
        if (tail >= 0) {
            plain(tail, end);
        }
        return end;
    }

    /**
     * Masks a value that continues after its line. It extends to the last text that may close it, or to the message's
     * end.
     */
    private int value(int from, QuoteTracker.Opening value, int next) {
        plain(from, value.from());
        out.append('?');
        int close = ByteText.lastIndexOf(in, next, end, value.closing());
        if (close >= 0) {
            plain(close, end);
        }
        return end;
    }

    private static boolean isClosing(byte b) {
        return b == '\'' || b == '"' || b == ')' || b == '.';
    }

    /** Writes text that contains no marked statement. */
    private void plain(int from, int to) {
        int field = ByteText.indexOf(in, from, to, FIELD);
        int hex = field < 0 ? -1 : ByteText.indexOf(in, field, to, HEX);
        if (hex >= 0 && ByteText.unsigned(in, field + FIELD.length, hex) >= 0) {
            fields(from, to);
        } else {
            values.write(ByteText.utf8(in, from, Math.min(to, from + MAX_LENGTH)), out);
        }
    }

    /** Masks InnoDB's fields of a record, {@code 0: len 4; hex 80000001; asc     ;;}; numbers and lengths are kept. */
    private void fields(int from, int to) {
        int i = from;
        while (i < to) {
            int hex = ByteText.indexOf(in, i, to, HEX);
            if (hex < 0) {
                out.append(withoutText(i, to));
                return;
            }
            out.append(withoutText(i, hex)).append("; hex ?");
            int digits = hex + HEX.length;
            int digitsEnd = digits;
            while (digitsEnd < to && Character.digit(in[digitsEnd], 16) >= 0) {
                digitsEnd++;
            }
            if (!ByteText.startsWith(in, digitsEnd, to, ASC)) {
                return;
            }
            // It has as many characters as bytes were written in hexadecimal, and they may be any.
            out.append("; asc ?");
            i = Math.min(to, digitsEnd + ASC.length + (digitsEnd - digits) / 2);
        }
    }

    /** Returns the text between two values if it is the server's. */
    private String withoutText(int from, int to) {
        for (int i = from; i < to; i++) {
            byte b = in[i];
            boolean known =
                    ByteText.isDigit(b) || " ;:().".indexOf(b) >= 0 || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z';
            if (!known || i - from > 60) {
                return "?";
            }
        }
        return ByteText.utf8(in, from, to);
    }
}
