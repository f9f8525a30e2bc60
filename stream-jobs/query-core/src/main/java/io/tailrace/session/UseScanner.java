package io.tailrace.session;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.ExecutableComment;
import io.tailrace.lexer.NoBreakSpace;
import io.tailrace.lexer.QuotedText;
import io.tailrace.lexer.SqlBytes;
import java.nio.charset.StandardCharsets;

/**
 * Scans a text of one or more statements line by line and determines whether {@code USE} occurs in it where it changes
 * the default database. This is one of two readings: with or without backslash escapes.
 */
final class UseScanner {

    private static final int CODE = 0;
    private static final int SINGLE_QUOTED = 1;
    private static final int DOUBLE_QUOTED = 2;
    private static final int BACKTICKED = 3;
    private static final int COMMENT = 4;

    /** Only comments and labels were read. */
    private static final int START = 0;

    private static final int AFTER_USE = 1;
    private static final int AFTER_NAME = 2;
    private static final int AFTER_SEMICOLON = 3;
    /** After the first word of another statement, which is a label if a colon follows. */
    private static final int FIRST_WORD = 4;

    private static final int OTHER = 5;
    private static final int SET = 6;
    /** After {@code SET STATEMENT}, which a statement follows after FOR. */
    private static final int SETTINGS = 7;
    /** In a compound statement, or in a transaction. */
    private static final int BLOCK = 8;

    private static final int NO_EXECUTABLE = 0;
    /** In an executable comment that every supported server executes. */
    private static final int EXECUTED = 1;
    /** In an executable comment that some servers skip. */
    private static final int OPTIONAL = 2;

    private static final int VERSION_DIGITS = 5;

    private static final byte[] USE = ByteText.ascii("use");
    private static final byte[] COMMENT_END = ByteText.ascii("*/");

    private final boolean backslashEscapes;
    private int mode;
    private int step;
    private int executable;
    /** The text contains USE, but the database that it leaves is unknown. */
    private boolean doubtful;
    /** Something precedes that some servers read as part of the statement, or another statement. */
    private boolean preceded;
    /** A statement may begin with the next word. */
    private boolean expectsStatement;

    private String name = "";

    UseScanner(boolean backslashEscapes) {
        this.backslashEscapes = backslashEscapes;
    }

    /** Returns the state between two lines, without the name. */
    int state() {
        return mode
                | step << 3
                | executable << 7
                | (doubtful ? 1 << 9 : 0)
                | (preceded ? 1 << 10 : 0)
                | (expectsStatement ? 1 << 11 : 0);
    }

    void restore(int state, String database) {
        mode = state & 7;
        step = state >> 3 & 15;
        executable = state >> 7 & 3;
        doubtful = (state & 1 << 9) != 0;
        preceded = (state & 1 << 10) != 0;
        expectsStatement = (state & 1 << 11) != 0;
        name = database;
    }

    String name() {
        return name;
    }

    /** Returns the database, raw; an empty text if it is unknown; null if the text does not change it. */
    String database() {
        if (doubtful || step == AFTER_USE) {
            return "";
        }
        if (step != AFTER_NAME && step != AFTER_SEMICOLON) {
            return null;
        }
        return mode == CODE && executable == NO_EXECUTABLE ? name : "";
    }

    /** Scans one line; {@code to} excludes its line end. */
    void line(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to) {
            i = switch (mode) {
                case CODE -> code(bytes, i, to);
                case SINGLE_QUOTED -> quoted(bytes, i, to, (byte) '\'');
                case DOUBLE_QUOTED -> quoted(bytes, i, to, (byte) '"');
                case BACKTICKED -> quoted(bytes, i, to, (byte) '`');
                default -> comment(bytes, i, to);
            };
        }
    }

    /** Ends a literal at its quote. In a skipped comment, the quote would be no quote, and the comment would end. */
    private int quoted(byte[] bytes, int from, int to, byte quote) {
        int end = SqlBytes.closingQuote(bytes, from, to, quote, backslashEscapes && quote != '`');
        mayEndComment(bytes, from, end);
        if (end == to) {
            return to;
        }
        mode = CODE;
        return end + 1;
    }

    private void mayEndComment(byte[] bytes, int from, int to) {
        doubtful |= executable == OPTIONAL && ByteText.indexOf(bytes, from, to, COMMENT_END) >= 0;
    }

    private int comment(byte[] bytes, int from, int to) {
        int end = SqlBytes.commentEnd(bytes, from, to);
        if (end < 0) {
            return to;
        }
        mode = CODE;
        return end;
    }

    private int code(byte[] bytes, int from, int to) {
        byte b = bytes[from];
        if (step == OTHER && !SqlBytes.mayChangeMode(b)) {
            return plain(bytes, from, to);
        }
        if (SqlBytes.isWord(b)) {
            int end = SqlBytes.wordEnd(bytes, from, to);
            word(bytes, from, end);
            return end;
        }
        if (ByteText.isBlank(b)) {
            return from + 1;
        }
        return switch (b) {
            case '\'' -> open(SINGLE_QUOTED, from);
            case '"' -> open(DOUBLE_QUOTED, from);
            case '`' -> step == AFTER_USE ? quotedName(bytes, from, to) : open(BACKTICKED, from);
            case '#' -> lineComment(bytes, from, to);
            case '-' -> SqlBytes.startsDashComment(bytes, from, to) ? lineComment(bytes, from, to) : symbol(b, from);
            case '/' -> SqlBytes.startsBlockComment(bytes, from, to) ? openComment(bytes, from, to) : symbol(b, from);
            case '*' -> {
                boolean ends = executable != NO_EXECUTABLE && from + 1 < to && bytes[from + 1] == '/';
                if (ends) {
                    executable = NO_EXECUTABLE;
                    yield from + 2;
                }
                yield symbol(b, from);
            }
            default -> symbol(b, from);
        };
    }

    /** Skips text in a statement that is not USE. */
    private static int plain(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && !SqlBytes.mayChangeMode(bytes[i])) {
            i++;
        }
        return i;
    }

    private int open(int quotedMode, int from) {
        text(false);
        mode = quotedMode;
        return from + 1;
    }

    private int lineComment(byte[] bytes, int from, int to) {
        mayEndComment(bytes, from, to);
        return to;
    }

    private int openComment(byte[] bytes, int from, int to) {
        int next = SqlBytes.executableFrom(bytes, from, to);
        if (executable != NO_EXECUTABLE || next < 0) {
            mode = COMMENT;
            return from + 2;
        }
        int digits = next;
        while (digits < to && ByteText.isDigit(bytes[digits])) {
            digits++;
        }
        boolean isForAll = ExecutableComment.servers(bytes, from, next, to) == ExecutableComment.Servers.ALL;
        executable = isForAll ? EXECUTED : OPTIONAL;
        return digits - next >= VERSION_DIGITS ? digits : next;
    }

    /** Reads a name in backticks, which follows USE. */
    private int quotedName(byte[] bytes, int from, int to) {
        QuotedText quoted = new QuotedText();
        int end = quoted.end(bytes, from, to, false);
        if (!quoted.isClosed()) {
            doubtful = true;
            mode = BACKTICKED;
            return to;
        }
        named(text(bytes, from + 1, end - 1).replace("``", "`"));
        return end;
    }

    private static String text(byte[] bytes, int from, int to) {
        return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
    }

    private void named(String database) {
        doubtful |= executable == OPTIONAL || database.isEmpty() || database.length() > SessionTracker.MAX_NAME_LENGTH;
        name = doubtful ? "" : database;
        step = AFTER_NAME;
    }

    private int symbol(byte symbol, int from) {
        if (symbol == ';') {
            semicolon();
        } else if (symbol == ':' && step == FIRST_WORD) {
            preceded = true;
            step = START;
        } else {
            text(false);
        }
        return from + 1;
    }

    private void semicolon() {
        switch (step) {
            case AFTER_USE -> doubtful = true;
            case AFTER_NAME, AFTER_SEMICOLON -> {
                doubtful |= executable != NO_EXECUTABLE;
                step = AFTER_SEMICOLON;
            }
            case BLOCK -> expectsStatement = true;
            default -> {
                preceded = true;
                step = START;
            }
        }
    }

    /** Reads a token that is neither USE nor a keyword that this class distinguishes. */
    private void text(boolean statementFollows) {
        switch (step) {
            case START -> {
                preceded |= executable == OPTIONAL;
                step = executable == OPTIONAL ? START : OTHER;
            }
            case AFTER_USE, AFTER_NAME, AFTER_SEMICOLON -> doubtful = true;
            case FIRST_WORD, SET -> step = executable == OPTIONAL ? step : OTHER;
            default -> {}
        }
        expectsStatement = statementFollows;
    }

    private void word(byte[] bytes, int from, int to) {
        if (step == AFTER_USE && !hasNoBreakSpace(bytes, from, to)) {
            named(text(bytes, from, to));
            return;
        }
        boolean use = ByteText.equalsIgnoreCase(bytes, from, to, USE);
        if (step == START) {
            first(bytes, from, to, use);
        } else if (step == BLOCK || step == SETTINGS) {
            doubtful |= use && expectsStatement || step == BLOCK && is(bytes, from, to, "execute");
            text(step == SETTINGS && is(bytes, from, to, "for"));
        } else if (step == SET && is(bytes, from, to, "statement")) {
            step = SETTINGS;
        } else {
            text(false);
        }
    }

    private void first(byte[] bytes, int from, int to, boolean use) {
        if (use) {
            doubtful |= preceded || executable == OPTIONAL;
            step = AFTER_USE;
        } else if (hasNoBreakSpace(bytes, from, to)) {
            // The character set of the client determines whether it separates words.
            doubtful |= ByteText.indexOf(lower(bytes, from, to), 0, to - from, USE) >= 0;
            preceded = true;
        } else if (executable == OPTIONAL) {
            text(false);
        } else {
            step = isSet(bytes, from, to) ? SET : opensBlock(bytes, from, to) ? BLOCK : FIRST_WORD;
        }
    }

    private static byte[] lower(byte[] bytes, int from, int to) {
        byte[] lower = new byte[to - from];
        for (int i = from; i < to; i++) {
            lower[i - from] = ByteText.lower(bytes[i]);
        }
        return lower;
    }

    /** Byte 0xA0 is also part of letters in UTF-8, such as {@code à}. */
    private static boolean hasNoBreakSpace(byte[] bytes, int from, int to) {
        return NoBreakSpace.wordEnd(bytes, from, to) < to;
    }

    private static boolean isSet(byte[] bytes, int from, int to) {
        return is(bytes, from, to, "set");
    }

    private static boolean is(byte[] bytes, int from, int to, String word) {
        return to - from == word.length() && text(bytes, from, to).equalsIgnoreCase(word);
    }

    private static boolean opensBlock(byte[] bytes, int from, int to) {
        return is(bytes, from, to, "begin")
                || is(bytes, from, to, "if")
                || is(bytes, from, to, "case")
                || is(bytes, from, to, "for")
                || is(bytes, from, to, "loop")
                || is(bytes, from, to, "while")
                || is(bytes, from, to, "repeat");
    }
}
