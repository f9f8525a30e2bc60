package io.tailrace.lexer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuotedTextTest {

    private final QuotedText quoted = new QuotedText();

    /** The text is in a larger array, whose bytes after the text would close it or double its last quote. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "'a'     | true  | 3 | true  | false",
                "''      | true  | 2 | true  | false",
                "'a' 'b' | true  | 3 | true  | false",
                "'a''b'  | true  | 6 | true  | false",
                "''''    | true  | 4 | true  | false",
                "'a'''   | true  | 5 | true  | false",
                "'a      | true  | 2 | false | false",
                "'       | true  | 1 | false | false",
                "'''     | true  | 3 | false | false",
                "'a\\'   | true  | 4 | false | true",
                "'a\\'b' | true  | 6 | true  | true",
                "'a\\\\' | true  | 5 | true  | true",
                "'a\\    | true  | 3 | false | true",
                "'a\\'   | false | 4 | true  | false",
                "\"a'\"  | true  | 4 | true  | false",
                "`a\\`   | false | 4 | true  | false",
            })
    void endsAfterASingleQuote(String text, boolean escapes, int length, boolean closed, boolean escaped) {
        byte[] bytes = ByteText.ascii("'" + text + text.charAt(0) + "'");
        assertThat(quoted.end(bytes, 1, 1 + text.length(), escapes)).isEqualTo(1 + length);
        assertThat(quoted.isClosed()).isEqualTo(closed);
        assertThat(quoted.isEscaped()).isEqualTo(escaped);
    }
}
