package io.tailrace.fingerprint.mask;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.fingerprint.token.StatementText;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import io.tailrace.lexer.StatementScanner;
import io.tailrace.testing.PropertyTestBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** All readers of statements agree on where literals, quoted names and comments of random texts end. */
class ReadersOfStatementsTest {

    private static final int ROUNDS = PropertyTestBudget.of(4_000, 400_000);

    private static final List<String> CODE = List.of(
            "'", "'", "\"", "`", "\\", "''", "``", "\"\"", "\\'", " ", "\n", "à", "a", "select", "1", ".1a", ".", ";",
            "=");
    private static final List<String> COMMENTS =
            List.of("-- ", "--\u00a0", "#", "/*", "*/", "/*/", "/*!", "/*!50000", "/*!99999", "/*M!", "\u00a0");

    static List<SqlMode> modes() {
        return List.of(SqlMode.DEFAULT, new SqlMode(true, false), new SqlMode(false, true), new SqlMode(true, true));
    }

    private final Random random = new Random(42);

    private String text(boolean comments) {
        StringBuilder text = new StringBuilder();
        int pieces = 1 + random.nextInt(12);
        for (int i = 0; i < pieces; i++) {
            List<String> of = comments && random.nextInt(3) == 0 ? COMMENTS : CODE;
            text.append(of.get(random.nextInt(of.size())));
        }
        // ConditionTokens, which may start within a comment, reads a mark where Masker reads an operator and a comment.
        return text.toString().replace("*/*", "*/ *");
    }

    private static ConditionTokens tokens(String text, SqlMode mode) {
        ConditionTokens tokens = new ConditionTokens(mode);
        byte[] bytes = ByteText.bytes(text);
        tokens.start(bytes, 0, bytes.length);
        return tokens;
    }

    private static boolean isOpen(String text, SqlMode mode) {
        ConditionTokens tokens = tokens(text, mode);
        boolean open = false;
        for (; tokens.kind() != Kind.END; tokens.next()) {
            open |= !tokens.isClosed();
        }
        return open;
    }

    private static boolean isOpen(String text, StatementScanner scanner) {
        byte[] bytes = ByteText.bytes(text);
        int to;
        for (int from = 0; from < bytes.length; from = to + 1) {
            to = ByteText.lineFeed(bytes, from, bytes.length);
            scanner.line(bytes, from, to);
        }
        return scanner.insideLiteral();
    }

    /** The scanner of lines does not know ANSI_QUOTES. */
    @Test
    void aLiteralIsOpenForTheScannerOfLinesIfItIsForTheReaderOfTokens() {
        for (int i = 0; i < ROUNDS; i++) {
            boolean escapes = random.nextBoolean();
            // A backslash at the end of a line escapes the line feed, which the scanner of lines does not read.
            String text = text(false).replace("\\\n", "\n");
            assertThat(isOpen(text, new StatementScanner(escapes)))
                    .as("%s, backslashes escape: %s", text, escapes)
                    .isEqualTo(isOpen(text, new SqlMode(false, !escapes)));
        }
    }

    @ParameterizedTest
    @MethodSource("modes")
    void aStatementWithAnOpenLiteralIsDoubtful(SqlMode mode) {
        Masker masker = new Masker(mode, true);
        for (int i = 0; i < ROUNDS; i++) {
            String text = text(true);
            byte[] bytes = ByteText.bytes(text);
            masker.mask(bytes, 0, bytes.length);
            if (isOpen(text, mode)) {
                assertThat(masker.isDoubtful()).as("%s, %s", text, mode).isTrue();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("modes")
    void aQuotedNameOfAnAccountIsTheTokenWithItsEscapesDecoded(SqlMode mode) {
        NamePart part = new NamePart(mode);
        for (int i = 0; i < ROUNDS; i++) {
            String text = "'\"`".charAt(random.nextInt(3)) + text(false).replace(".", "");
            byte[] bytes = ByteText.bytes(text);
            int end = part.read(bytes, 0, bytes.length);
            if (end >= 0) {
                ConditionTokens tokens = tokens(text, mode);
                assertThat(tokens.isClosed()).as("%s, %s", text, mode).isTrue();
                assertThat(ByteText.utf8(part.bytes(), 0, part.length()))
                        .as("%s, %s", text, mode)
                        .isEqualTo(StatementText.decoded(ByteText.utf8(bytes, 1, end - 1), bytes[0], mode));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("modes")
    void aStatementWithoutCommentsHasTheSameTokens(SqlMode mode) {
        for (int i = 0; i < ROUNDS; i++) {
            String text = text(true);
            assertThat(texts(StatementText.withoutComments(text, mode), mode))
                    .as("%s, %s", text, mode)
                    .isEqualTo(texts(text, mode));
        }
    }

    private static List<String> texts(String statement, SqlMode mode) {
        List<String> texts = new ArrayList<>();
        ConditionTokens tokens = tokens(statement, mode);
        for (; tokens.kind() != Kind.END; tokens.next()) {
            texts.add(ByteText.utf8(tokens.bytes(), tokens.from(), tokens.end()));
        }
        return texts;
    }
}
