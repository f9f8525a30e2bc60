package io.tailrace.fingerprint.token;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.ExecutableComment;
import io.tailrace.lexer.NoBreakSpace;
import io.tailrace.lexer.QuotedText;
import io.tailrace.lexer.SqlBytes;
import io.tailrace.lexer.SqlMode;
import io.tailrace.lexer.ValueBuffer;

/**
 * Converts the text of a literal that is prepared as a statement: escapes are decoded, comments and no-break spaces
 * become blanks, and the content of version comments remains, because servers may run it.
 */
public final class StatementText {

    private final byte[] in;
    private final SqlMode mode;
    private final ValueBuffer out = new ValueBuffer();
    private int at;

    private StatementText(byte[] in, SqlMode mode) {
        this.in = in;
        this.mode = mode;
    }

    /**
     * Returns the content of a literal or quoted name with its escapes decoded.
     *
     * @param content the text between the quotes
     * @param quote the quote, which is doubled in the content
     */
    public static String decoded(String content, byte quote, SqlMode mode) {
        if (content.indexOf('\\') < 0 && content.indexOf(quote) < 0) {
            return content;
        }
        boolean escapes = mode.backslashEscapes(quote);
        StringBuilder text = new StringBuilder(content.length());
        for (int i = 0; i < content.length(); i++) {
            char c = content.charAt(i);
            boolean more = i + 1 < content.length();
            if (c == '\\' && more && escapes) {
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

    /**
     * Returns a statement with a blank in place of each comment outside of quotes, and of the marks of version comments.
     * A character that could not be decoded may be a no-break space.
     */
    public static String withoutComments(String statement, SqlMode mode) {
        byte[] bytes = ByteText.bytes(statement.replace('\ufffd', '\u00a0'));
        return new StatementText(bytes, mode).read();
    }

    private String read() {
        while (at < in.length) {
            byte b = in[at];
            switch (b) {
                case '\'', '"', '`' -> quoted(b);
                case '#', '-', '/' -> comment();
                case '*' -> blankOr(at + 1 < in.length && in[at + 1] == '/' ? at + 2 : at, at + 1);
                default -> word();
            }
        }
        return ByteText.utf8(out.bytes, 0, out.length);
    }

    /** Writes a blank and continues after what it replaces, or copies the text if there is nothing to replace. */
    private void blankOr(int replaced, int copied) {
        if (replaced > at) {
            out.put((byte) ' ');
            at = replaced;
        } else {
            out.put(in, at, copied);
            at = copied;
        }
    }

    private void quoted(byte quote) {
        blankOr(at, new QuotedText().end(in, at, in.length, mode.backslashEscapes(quote)));
    }

    private void comment() {
        int code = ExecutableComment.codeFrom(in, at, in.length);
        blankOr(code >= 0 ? code : ExecutableComment.afterSkipped(in, at, in.length), at + 1);
    }

    private void word() {
        int end = NoBreakSpace.wordEnd(in, at, in.length);
        boolean space = end == at && SqlBytes.isWord(in[at]);
        blankOr(space ? NoBreakSpace.after(in, at, in.length) : at, Math.max(end, at + 1));
    }
}
