package io.tailrace.lexer;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.testing.Contract;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The scanner's state at the end of a text, with and without saving and restoring it after each line. */
class StatementScannerTest {

    private enum End {
        /** In a literal, a quoted name or a comment. */
        LITERAL,
        /** In the block of a compound statement. */
        BLOCK,
        /** Outside of all that, before the final semicolon. */
        OPEN,
        /** After a semicolon that may be the final one, depending on what follows. */
        MAYBE,
        COMPLETE
    }

    @ParameterizedTest
    @MethodSource("openLiterals")
    void agreesWithTheOtherReadersOfStatements(Map<String, Object> text) {
        byte[] bytes = ((String) text.get("text")).getBytes(StandardCharsets.UTF_8);
        StatementScanner scanner = new StatementScanner();
        scanner.line(bytes, 0, bytes.length);
        assertThat(scanner.insideLiteral()).isEqualTo(text.get("is_open"));
    }

    static List<Map<String, Object>> openLiterals() throws IOException {
        return Contract.cases("open_literal");
    }

    /** Literals and quoted names. */
    static Stream<Arguments> literals() {
        return Stream.of(
                Arguments.of("SELECT 1;", End.COMPLETE),
                Arguments.of("SELECT 1", End.OPEN),
                Arguments.of("SELECT 1; ", End.COMPLETE),
                Arguments.of("SELECT 1; SELECT", End.OPEN),
                Arguments.of("SELECT\u00a01;", End.COMPLETE),
                Arguments.of("SELECT\u00a0à\u00a0'a;", End.LITERAL),
                Arguments.of("CREATE\u00a0PROCEDURE\u00a0p()\u00a0BEGIN\u00a0SELECT 1;", End.BLOCK),
                Arguments.of("SELECT 'a;", End.LITERAL),
                Arguments.of("SELECT 'a\\';", End.LITERAL),
                Arguments.of("SELECT 'a\\\\';", End.COMPLETE),
                Arguments.of("SELECT 'a\\", End.LITERAL),
                Arguments.of("SELECT 'it''s';", End.COMPLETE),
                Arguments.of("SELECT \"a';\n\";", End.COMPLETE),
                Arguments.of("SELECT \"a\\\";", End.LITERAL),
                Arguments.of("SELECT 'a\n--\n", End.LITERAL),
                Arguments.of("SELECT `a\\`;", End.COMPLETE),
                Arguments.of("SELECT `a';", End.LITERAL));
    }

    static Stream<Arguments> comments() {
        return Stream.of(
                Arguments.of("SELECT 1 -- it's", End.OPEN),
                Arguments.of("SELECT 1 -- it's\n;", End.COMPLETE),
                Arguments.of("SELECT 1 --\tit's\n;", End.COMPLETE),
                Arguments.of("SELECT 1 --\n;", End.COMPLETE),
                Arguments.of("SELECT 1 --it's", End.LITERAL),
                Arguments.of("SELECT 1 --é'", End.LITERAL),
                Arguments.of("SELECT 1 - - 'x", End.LITERAL),
                Arguments.of("SELECT 5-", End.OPEN),
                Arguments.of("SELECT 1 # it's\n;", End.COMPLETE),
                Arguments.of("SELECT 1 -- note;", End.MAYBE),
                Arguments.of("SELECT 1 # note;", End.MAYBE),
                Arguments.of("SELECT 1 -- note;\nFROM t", End.OPEN),
                Arguments.of("SELECT /* ' */ 1;", End.COMPLETE),
                Arguments.of("SELECT /* it's", End.LITERAL),
                Arguments.of("SELECT /*", End.LITERAL),
                Arguments.of("SELECT /*/ 1;", End.LITERAL),
                Arguments.of("SELECT /* ;\n*\n/ */ 1;", End.COMPLETE),
                Arguments.of("SELECT 4 / 2;", End.COMPLETE),
                Arguments.of("SELECT 4 */ 2;", End.COMPLETE));
    }

    /** Code that only some servers run. */
    static Stream<Arguments> executableComments() {
        return Stream.of(
                Arguments.of("SELECT /*! 1 ;", End.OPEN),
                Arguments.of("SELECT /*! 1 ; */", End.OPEN),
                Arguments.of("SELECT /*! 1 ; */;", End.COMPLETE),
                Arguments.of("SELECT /*! 1 *\n2 */;", End.COMPLETE),
                Arguments.of("SELECT /*!", End.OPEN),
                Arguments.of("SELECT /*!\n 1 */\n;", End.COMPLETE),
                Arguments.of("SELECT /*! 'a */", End.LITERAL),
                Arguments.of("SELECT /*!50001 'a */", End.LITERAL),
                Arguments.of("SELECT /*!50001 'a */ ' */;", End.COMPLETE),
                Arguments.of("SELECT /*M!100100 'a", End.LITERAL),
                Arguments.of("SELECT /*M!100100 1 */;", End.COMPLETE),
                Arguments.of("SELECT /*M it's */;", End.COMPLETE),
                Arguments.of("SELECT /*M", End.LITERAL),
                Arguments.of("SELECT /*! /* it's */ 1 */;", End.COMPLETE),
                Arguments.of("SELECT /*! /*! it's */ 1 */;", End.COMPLETE));
    }

    static Stream<Arguments> compoundStatements() {
        return Stream.of(
                Arguments.of("BEGIN;", End.COMPLETE),
                Arguments.of("begin work;", End.COMPLETE),
                Arguments.of("BEGIN SELECT 1;", End.BLOCK),
                Arguments.of("BEGIN NOT ATOMIC SELECT 1; END;", End.MAYBE),
                Arguments.of("CREATE TABLE t (a int);", End.COMPLETE),
                Arguments.of("CREATE DEFINER=a@b VIEW v AS SELECT 1;", End.COMPLETE),
                Arguments.of("CREATE FUNCTION f() RETURNS int RETURN 1;", End.MAYBE),
                Arguments.of("CREATE PROCEDURE p() BEGIN SELECT 1;", End.BLOCK),
                Arguments.of("CREATE PROCEDURE p()\nBEGIN\nSELECT 1;\nEND", End.BLOCK),
                Arguments.of("CREATE PROCEDURE p()\nBEGIN\nSELECT 1;\nEND;", End.MAYBE),
                Arguments.of("CREATE PROCEDURE p()\nBEGIN\nBEGIN\nBEGIN\nEND;\nEND;", End.BLOCK),
                Arguments.of("CREATE PROCEDURE p()\nBEGIN\nBEGIN\nBEGIN\nEND;\nEND;\nEND;", End.MAYBE),
                Arguments.of("CREATE PROCEDURE p() BEGIN IF a THEN SELECT 1; END IF;", End.BLOCK),
                Arguments.of("CREATE PROCEDURE p() BEGIN IF a THEN SELECT 1; END\nIF; END;", End.MAYBE),
                Arguments.of("CREATE PROCEDURE p() BEGIN CASE a WHEN 1 THEN SELECT 1; END CASE;", End.BLOCK),
                Arguments.of("CREATE PROCEDURE p() BEGIN CASE a WHEN 1 THEN SELECT 1; END\nCASE; END;", End.MAYBE),
                Arguments.of("CREATE PROCEDURE p() SELECT CASE a WHEN 1 THEN 2 END;", End.MAYBE),
                Arguments.of("CREATE PROCEDURE p() BEGIN SELECT CASE a WHEN 1 THEN 2 END;", End.BLOCK),
                Arguments.of(
                        "CREATE PROCEDURE p() BEGIN SELECT CASE a WHEN 1 THEN 2 END + CASE b WHEN 1 THEN 2 END;",
                        End.BLOCK),
                Arguments.of(
                        "CREATE PROCEDURE p() BEGIN SELECT CASE a WHEN 1 THEN CASE b WHEN 2 THEN 3 END END; END;",
                        End.MAYBE),
                Arguments.of("/*!50003 CREATE */ PROCEDURE p() BEGIN SELECT 1;", End.BLOCK),
                Arguments.of("IF a THEN SELECT 1;", End.MAYBE));
    }

    static Stream<Arguments> dollarQuotes() {
        return Stream.of(
                Arguments.of("CREATE FUNCTION f() RETURNS int LANGUAGE JAVASCRIPT AS $js$ return ';", End.LITERAL),
                Arguments.of("CREATE FUNCTION f() RETURNS int AS $js$ '\n$$ $j$\n", End.LITERAL),
                Arguments.of("CREATE FUNCTION f() RETURNS int AS $js$ '\n$$ $js$;", End.MAYBE),
                Arguments.of("CREATE FUNCTION f() RETURNS int AS $$ '\n$js$ $$;", End.MAYBE),
                Arguments.of("CREATE FUNCTION f() RETURNS int AS $js", End.OPEN),
                Arguments.of("SELECT $$ ';", End.LITERAL),
                Arguments.of("SELECT $a$ FROM t;", End.COMPLETE));
    }

    @ParameterizedTest
    @MethodSource({"literals", "comments", "executableComments", "compoundStatements", "dollarQuotes"})
    void knowsWhereAStatementEnds(String text, End expected) {
        StatementScanner scanner = new StatementScanner();
        StatementScanner exact = new StatementScanner();
        int state = 0;
        for (String line : text.split("\n", -1)) {
            // The text is in a larger array, and in one of its size, so that reading beyond the line would be detected.
            byte[] bytes = ('\'' + line + "*/'").getBytes(StandardCharsets.UTF_8);
            scanner.line(bytes, 1, bytes.length - 3);

            StatementScanner restored = new StatementScanner();
            restored.restore(state);
            restored.line(bytes, 1, bytes.length - 3);
            state = restored.state();
            assertThat(end(restored)).as("restored before " + line).isEqualTo(end(scanner));
            restored.restore(state);
            assertThat(end(restored)).as("restored after " + line).isEqualTo(end(scanner));

            byte[] alone = line.getBytes(StandardCharsets.UTF_8);
            exact.line(alone, 0, alone.length);
            assertThat(exact.state()).as("at the end of an array " + line).isEqualTo(state);
        }
        assertThat(end(scanner)).isEqualTo(expected);
    }

    /** State of framers contains these numbers, and in them the hash of the tag of a dollar quote. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "SELECT 1; | 416",
                "SELECT 'a | 401",
                "SELECT /*! a | 408",
                "SELECT 1 # note; | 464",
                "CREATE PROCEDURE p() BEGIN BEGIN SELECT 1 | 4624",
                "CREATE PROCEDURE p() BEGIN BEGIN END | 5648",
                "CREATE FUNCTION f() RETURNS int AS $$ a | 65591829",
                "CREATE FUNCTION f() RETURNS int AS $js$ a | 74218005",
                "CREATE FUNCTION f() RETURNS int AS $a_tag_of_many_bytes$ a | 104821269",
            })
    void theStateIsTheNumberOfSavedStates(String text, int state) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        StatementScanner scanner = new StatementScanner();
        scanner.line(bytes, 0, bytes.length);
        assertThat(scanner.state()).isEqualTo(state);
    }

    private static End end(StatementScanner scanner) {
        if (scanner.insideLiteral()) {
            assertThat(scanner.inside()).isTrue();
            return End.LITERAL;
        }
        if (scanner.inside()) {
            return End.BLOCK;
        }
        if (scanner.complete()) {
            assertThat(scanner.mayBeComplete()).isTrue();
            return End.COMPLETE;
        }
        return scanner.mayBeComplete() ? End.MAYBE : End.OPEN;
    }
}
