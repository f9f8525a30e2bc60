package io.tailrace.fingerprint;

/**
 * Converts the text of a literal that is prepared as a statement: escapes are decoded, comments and no-break spaces
 * become blanks, and the content of version comments remains, because servers may run it.
 */
final class StatementText {

    private final String in;
    private final StringBuilder out;
    private int at;

    private StatementText(String in) {
        this.in = in;
        this.out = new StringBuilder(in.length());
    }

    /**
     * Returns the content of a literal with its escapes decoded.
     *
     * @param content the text between the quotes
     * @param quote the quote, which is doubled in the content
     */
    static String decoded(String content, char quote, SqlMode mode) {
        if (content.indexOf('\\') < 0 && content.indexOf(quote) < 0) {
            return content;
        }
        StringBuilder text = new StringBuilder(content.length());
        for (int i = 0; i < content.length(); i++) {
            char c = content.charAt(i);
            boolean more = i + 1 < content.length();
            if (c == '\\' && more && !mode.noBackslashEscapes()) {
                text.append(unescaped(content.charAt(++i)));
            } else {
                text.append(c);
                i += c == quote && more && content.charAt(i + 1) == quote ? 1 : 0;
            }
        }
        return text.toString();
    }

    private static char unescaped(char c) {
        return switch (c) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            default -> c;
        };
    }

    /** Returns a statement with a blank in place of each comment outside of quotes, and of the marks of version comments. */
    static String withoutComments(String statement) {
        return new StatementText(statement).read();
    }

    private String read() {
        while (at < in.length()) {
            char c = in.charAt(at);
            switch (c) {
                case '\'', '"', '`' -> quoted(c);
                case '#' -> skipTo("\n");
                case '-' -> dash();
                case '/' -> slash();
                case '*' -> symbol(in.startsWith("*/", at) ? 2 : 0);
                case '\u00a0', '\ufffd' -> symbol(1);
                default -> symbol(0);
            }
        }
        return out.toString();
    }

    /** Writes the next character, or a blank in place of some. */
    private void symbol(int skipped) {
        out.append(skipped > 0 ? ' ' : in.charAt(at));
        at += Math.max(1, skipped);
    }

    private void quoted(char quote) {
        int end = at + 1;
        while (end < in.length() && in.charAt(end) != quote) {
            end += in.charAt(end) == '\\' && quote != '`' ? 2 : 1;
        }
        end = Math.min(end + 1, in.length());
        out.append(in, at, end);
        at = end;
    }

    private void dash() {
        boolean comment = in.startsWith("--", at) && (at + 2 == in.length() || in.charAt(at + 2) <= ' ');
        if (comment) {
            skipTo("\n");
        } else {
            symbol(0);
        }
    }

    private void slash() {
        if (!in.startsWith("/*", at)) {
            symbol(0);
            return;
        }
        int mark = in.startsWith("/*!", at) ? at + 3 : in.startsWith("/*M!", at) ? at + 4 : -1;
        if (mark < 0) {
            skipTo("*/");
            return;
        }
        while (mark < in.length() && Character.isDigit(in.charAt(mark))) {
            mark++;
        }
        symbol(mark - at);
    }

    private void skipTo(String end) {
        int found = in.indexOf(end, at + 1);
        symbol((found < 0 ? in.length() : found + end.length()) - at);
    }
}
