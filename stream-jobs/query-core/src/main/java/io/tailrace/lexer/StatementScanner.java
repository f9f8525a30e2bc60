package io.tailrace.lexer;

/**
 * Scans a statement line by line and reports after each line whether it is inside a literal or comment, and whether
 * the statement's final semicolon was read. Quoting is that of MySQL and MariaDB with their default {@code sql_mode}:
 * {@code '…'} and {@code "…"} with backslash escapes, {@code `…`} without, {@code /* … *&#47;}, {@code /*! … *&#47;}
 * and {@code /*M! … *&#47;} (whose content is code), {@code --} before white space, {@code #}, and in definitions the
 * dollar quotes of MySQL 9 ({@code $$ … $$}, {@code $js$ … $js$}).
 *
 * <p>The whole state fits in an int, so that a framer can stop and resume after any line.
 */
public final class StatementScanner {

    private static final int CODE = 0;
    private static final int SINGLE_QUOTED = 1;
    private static final int DOUBLE_QUOTED = 2;
    private static final int BACKTICKED = 3;
    private static final int COMMENT = 4;
    /** Inside dollar quotes, which occur outside of blocks only: {@link #depth} contains a hash of their tag. */
    private static final int DOLLAR_QUOTED = 5;

    // 0: only blanks and comments were read.
    private static final int TEXT = 1;
    private static final int SEMICOLON = 2;

    /** No word of the statement was read. */
    private static final int START = 0;
    /** After CREATE or ALTER, before the kind of object. */
    private static final int DEFINITION = 1;
    /** After BEGIN, which may open a transaction or a block. */
    private static final int BEGIN = 2;

    private static final int SIMPLE = 3;
    /** Semicolons inside the statement do not end it. */
    private static final int COMPOUND = 4;

    private static final int MAX_DEPTH = 0xffff;

    private final boolean backslashEscapes;
    private int mode;
    private boolean executableComment;
    private int last;
    private boolean commentHidesSemicolon;
    private int shape;
    private int depth;
    private boolean afterEnd;

    /** Creates a scanner for the default {@code sql_mode}. */
    public StatementScanner() {
        this(true);
    }

    /**
     * Creates a scanner.
     *
     * @param backslashEscapes false if the {@code sql_mode} contains NO_BACKSLASH_ESCAPES
     */
    public StatementScanner(boolean backslashEscapes) {
        this.backslashEscapes = backslashEscapes;
    }

    /** Resets the state: a statement starts with the next line. */
    public void reset() {
        restore(0);
    }

    /** Returns the state between two lines. */
    public int state() {
        return mode
                | (executableComment ? 1 << 3 : 0)
                | last << 4
                | (commentHidesSemicolon ? 1 << 6 : 0)
                | shape << 7
                | (afterEnd ? 1 << 10 : 0)
                | depth << 11;
    }

    public void restore(int state) {
        mode = state & 7;
        executableComment = (state & 1 << 3) != 0;
        last = state >> 4 & 3;
        commentHidesSemicolon = (state & 1 << 6) != 0;
        shape = state >> 7 & 7;
        afterEnd = (state & 1 << 10) != 0;
        depth = state >>> 11 & MAX_DEPTH;
    }

    /**
     * Returns whether the next byte belongs to a literal, quoted name, block comment or block of a compound
     * statement.
     */
    public boolean inside() {
        return mode != CODE || shape == COMPOUND && depth > 0;
    }

    /** Returns whether the next byte belongs to a literal, a quoted name or a block comment. */
    public boolean insideLiteral() {
        return mode != CODE;
    }

    /** Returns whether the final semicolon was read, so that nothing that follows can belong to the statement. */
    public boolean complete() {
        return mode == CODE && !executableComment && last == SEMICOLON && shape != COMPOUND;
    }

    /**
     * Returns whether the statement may end here, depending on what follows: after a semicolon of a compound
     * statement, or after one at the end of a line comment ({@code SELECT 1 -- note;}: the server appends its
     * semicolon without regard to the comment).
     */
    public boolean mayBeComplete() {
        return mode == CODE && (commentHidesSemicolon || last == SEMICOLON);
    }

    /** Scans one line; {@code to} excludes its line end. */
    public void line(byte[] bytes, int from, int to) {
        commentHidesSemicolon = false;
        int i = from;
        while (i < to) {
            i = switch (mode) {
                case CODE -> code(bytes, i, to);
                case SINGLE_QUOTED -> quoted(bytes, i, to, (byte) '\'');
                case DOUBLE_QUOTED -> quoted(bytes, i, to, (byte) '"');
                case BACKTICKED -> quoted(bytes, i, to, (byte) '`');
                case DOLLAR_QUOTED -> dollarQuoted(bytes, i, to);
                default -> comment(bytes, i, to);
            };
        }
    }

    private int quoted(byte[] bytes, int from, int to, byte quote) {
        int end = SqlBytes.closingQuote(bytes, from, to, quote, backslashEscapes && quote != '`');
        if (end == to) {
            return to;
        }
        mode = CODE;
        return end + 1;
    }

    private int dollarQuoted(byte[] bytes, int from, int to) {
        int i = ByteText.firstOf(bytes, from, to, (byte) '$', (byte) '$');
        while (i < to) {
            int tagTo = tagEnd(bytes, i, to);
            if (tagTo > 0 && tagHash(bytes, i, tagTo) == depth) {
                mode = CODE;
                depth = 0;
                return tagTo;
            }
            i = ByteText.firstOf(bytes, i + 1, to, (byte) '$', (byte) '$');
        }
        return to;
    }

    /** Returns the index after {@code $$} or {@code $js$}, or -1. */
    private static int tagEnd(byte[] bytes, int from, int to) {
        int i = from + 1;
        while (i < to && bytes[i] != '$' && SqlBytes.isWord(bytes[i])) {
            i++;
        }
        return i < to && bytes[i] == '$' ? i + 1 : -1;
    }

    private static int tagHash(byte[] bytes, int from, int to) {
        return ByteText.hash(bytes, from, to) & MAX_DEPTH;
    }

    private int comment(byte[] bytes, int from, int to) {
        int end = SqlBytes.commentEnd(bytes, from, to);
        if (end < 0) {
            return to;
        }
        mode = CODE;
        return end;
    }

    /** Scans code up to the next change of mode. The method is long because it is the hot loop. */
    private int code(byte[] bytes, int from, int to) {
        int i = shape == SIMPLE ? plain(bytes, from, to) : from;
        while (i < to) {
            byte b = bytes[i];
            switch (b) {
                case ' ', '\t', '\r', '\n', '\f', 0x0b -> i++;
                case '\'' -> {
                    return open(SINGLE_QUOTED, i + 1);
                }
                case '"' -> {
                    return open(DOUBLE_QUOTED, i + 1);
                }
                case '`' -> {
                    return open(BACKTICKED, i + 1);
                }
                case '#' -> {
                    return lineComment(bytes, to);
                }
                case '-' -> {
                    if (SqlBytes.startsDashComment(bytes, i, to)) {
                        return lineComment(bytes, to);
                    }
                    i = text(i + 1);
                }
                case '/' -> {
                    if (SqlBytes.startsBlockComment(bytes, i, to)) {
                        i = openComment(bytes, i, to);
                        if (mode != CODE) {
                            return i;
                        }
                    } else {
                        i = text(i + 1);
                    }
                }
                case '*' -> {
                    if (executableComment && i + 1 < to && bytes[i + 1] == '/') {
                        executableComment = false;
                        i += 2;
                    } else {
                        i = text(i + 1);
                    }
                }
                case ';' -> {
                    semicolon();
                    i++;
                }
                case '$' -> {
                    i = dollar(bytes, i, to);
                    if (mode != CODE) {
                        return i;
                    }
                }
                default -> i = other(bytes, i, to);
            }
            if (shape == SIMPLE) {
                i = plain(bytes, i, to);
            }
        }
        return to;
    }

    /** Skips text in a statement whose remaining words do not affect its structure. */
    private int plain(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && !SqlBytes.mayChangeMode(bytes[i])) {
            i++;
        }
        if (i > from && ByteText.skipBlanks(bytes, from, i) < i) {
            last = TEXT;
        }
        return i;
    }

    private int open(int quotedMode, int next) {
        text(next);
        mode = quotedMode;
        return next;
    }

    private int lineComment(byte[] bytes, int to) {
        commentHidesSemicolon = bytes[to - 1] == ';';
        return to;
    }

    private int openComment(byte[] bytes, int i, int to) {
        int next = SqlBytes.executableFrom(bytes, i, to);
        if (executableComment || next < 0) {
            mode = COMMENT;
            return i + 2;
        }
        executableComment = true;
        while (next < to && ByteText.isDigit(bytes[next])) {
            next++;
        }
        return next;
    }

    private void semicolon() {
        if (executableComment) {
            text(0);
            return;
        }
        closeBlock();
        if (shape == BEGIN || shape == START) {
            shape = SIMPLE;
        }
        last = SEMICOLON;
    }

    /** Records text that is neither white space, comment, word nor final semicolon. */
    private int text(int next) {
        last = TEXT;
        if (shape == START) {
            shape = SIMPLE;
        }
        closeBlock();
        return next;
    }

    /**
     * Scans a dollar sign. Dollar quotes enclose the body of a routine or library that is defined; elsewhere a dollar
     * sign starts a name.
     */
    private int dollar(byte[] bytes, int from, int to) {
        int tagTo = shape == DEFINITION || shape == COMPOUND && depth == 0 ? tagEnd(bytes, from, to) : -1;
        if (tagTo < 0) {
            return word(bytes, from, to);
        }
        last = TEXT;
        mode = DOLLAR_QUOTED;
        depth = tagHash(bytes, from, tagTo);
        return tagTo;
    }

    private int other(byte[] bytes, int from, int to) {
        int blank = bytes[from] < 0 ? NoBreakSpace.after(bytes, from, to) : from;
        if (blank > from) {
            return blank;
        }
        return SqlBytes.isWord(bytes[from]) ? word(bytes, from, to) : text(from + 1);
    }

    private int word(byte[] bytes, int from, int to) {
        int end = NoBreakSpace.wordEnd(bytes, from, to);
        last = TEXT;
        if (shape != SIMPLE) {
            keyword(bytes, from, end);
        }
        return end;
    }

    private void keyword(byte[] bytes, int from, int to) {
        Keyword keyword = Keyword.of(bytes, from, to);
        switch (shape) {
            case START -> shape = startShape(keyword);
            case DEFINITION -> {
                if (keyword == Keyword.ROUTINE) {
                    shape = COMPOUND;
                } else if (keyword == Keyword.OTHER_OBJECT) {
                    shape = SIMPLE;
                }
            }
            case BEGIN -> {
                shape = keyword == Keyword.WORK ? SIMPLE : COMPOUND;
                depth = shape == COMPOUND ? 1 : 0;
            }
            default -> block(keyword);
        }
    }

    private static int startShape(Keyword keyword) {
        return switch (keyword) {
            case DEFINE -> DEFINITION;
            case BEGIN -> BEGIN;
            case BLOCK, CASE -> COMPOUND;
            default -> SIMPLE;
        };
    }

    /**
     * Counts BEGIN … END and CASE … END of a compound statement. Other blocks close with END and their own name. They
     * are not counted, so that the functions IF() and REPEAT() are not mistaken for blocks.
     */
    private void block(Keyword keyword) {
        boolean namedEnd = afterEnd && keyword == Keyword.BLOCK;
        boolean caseEnd = afterEnd && keyword == Keyword.CASE;
        if (namedEnd) {
            afterEnd = false;
            return;
        }
        closeBlock();
        if (keyword == Keyword.END) {
            afterEnd = true;
        } else if (keyword == Keyword.BEGIN || keyword == Keyword.CASE && !caseEnd) {
            depth = Math.min(depth + 1, MAX_DEPTH);
        }
    }

    private void closeBlock() {
        if (afterEnd) {
            afterEnd = false;
            depth = Math.max(depth - 1, 0);
        }
    }
}
