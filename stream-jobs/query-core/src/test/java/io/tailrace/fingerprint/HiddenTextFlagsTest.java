package io.tailrace.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.lexer.ByteText;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Flags of comments that cut a statement, and of texts that functions assemble. */
class HiddenTextFlagsTest {

    private final Fingerprinter fingerprinter = new Fingerprinter();

    private List<String> flags(String statement) {
        byte[] bytes = ByteText.bytes(statement);
        NormalizedStatement shape = fingerprinter.statement(bytes, 0, bytes.length);
        return fingerprinter.flags(shape, bytes, 0, bytes.length);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a FROM t WHERE b = 'x'-- ' AND c = 'y'",
                "SELECT a FROM t WHERE b = 'x' -- ' AND c = 'y'",
                "SELECT a FROM t WHERE b = 'x'#' AND c = 'y'",
                "SELECT a FROM t WHERE b = \"x\"#\" AND c = \"y\"",
                "SELECT a FROM t WHERE (b = 'x')-- ') AND c = 'y'",
                "SELECT a FROM t WHERE b = 'x'/*' AND c = 'y'",
                "SELECT a FROM t WHERE b = 1-- AND c = 2",
                "SELECT a FROM t WHERE b = 'x' -- -",
                "SELECT a FROM t WHERE b = 'x'#",
                "SELECT a FROM t WHERE b = 'x'-- ' AND c = 'y'\nORDER BY a",
                "UPDATE t SET a = 1 WHERE b = 'x'-- '"
            })
    void aCommentMayCutAStatement(String statement) {
        assertThat(flags(statement)).contains("comment_cuts_statement");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a FROM t -- the user's own",
                "SELECT a -- 'a' is new\n FROM t",
                "SELECT a FROM t\n-- ' AND c = 'y'",
                "SELECT a FROM t WHERE b = 1 -- AND c = 2",
                "SELECT a FROM t WHERE b = '-- '' AND'",
                "SELECT a FROM t; -- done",
                "SELECT a, # first\n b FROM t",
                "-- ') header\nSELECT a FROM t",
                "SELECT a FROM t /* ' AND c = 'y' */",
                "SELECT a --1 FROM t"
            })
    void ordinaryCommentsCutNothing(String statement) {
        assertThat(flags(statement)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SET @a = CONCAT('DR', 'OP DATABASE hr')",
                "SET @a = REVERSE('rh ESABATAD PORD')",
                "SET @a = UNHEX('44524F50204441544142415345206872')",
                "PREPARE s FROM FROM_BASE64('RFJPUCBEQVRBQkFTRSBocg==')",
                "EXECUTE IMMEDIATE CONCAT_WS(' ', 'DROP', 'DATABASE', 'hr')",
                "SET @a = CONCAT(CHAR(68, 82), CONCAT('OP ', 'DATABASE'), ' hr')"
            })
    void functionsOfLiteralsAreComputed(String statement) {
        assertThat(flags(statement)).contains("dynamic_drop_database", "dynamic_assembled");
    }

    /** Servers read the text of a literal as a statement, with its comments, escapes and parts. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "PREPARE s FROM 'DROP/**/DATABASE shop'",
                "PREPARE s FROM '/**/DROP DATABASE shop'",
                "EXECUTE IMMEDIATE '/*!50000 DROP DATABASE shop*/'",
                "EXECUTE IMMEDIATE '/*M! DROP*/ DATABASE shop'",
                "EXECUTE IMMEDIATE '-- x\nDROP # y\n DATABASE shop'",
                "EXECUTE IMMEDIATE 'DROP\\nDATABASE shop'",
                "EXECUTE IMMEDIATE '\\DROP DATABASE shop'",
                "EXECUTE IMMEDIATE 'DROP\u00a0DATABASE shop'",
                "SET @a='DROP ' 'DATABASE shop'",
                "SET@a='DROP DATABASE shop'",
                "SET/**/@a='DROP DATABASE shop'",
                "SET @a := 'DR' \"OP DATABASE shop\"",
                "SELECT 'DROP DATABASE shop' INTO @a",
                "SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, (_utf8mb4 'DROP DATABASE shop') INTO @a, @b",
                "SELECT a, CONCAT('DROP ', 'DATABASE shop') FROM t INTO @x, @b",
                "SET @a=N'DROP DATABASE shop'",
                "SET @a=_utf8mb4'DROP DATABASE shop'",
                "SET @a = _utf8mb4 'DROP DATABASE shop'",
                "SET @a=CAST('DROP DATABASE shop' AS CHAR(64))",
                "SET @a=CONVERT('DROP DATABASE shop' USING utf8mb4)",
                "SET @a=CONVERT('DROP DATABASE shop', CHAR)",
                "SET @a=REPLACE('DRxOP DATAxBASE shop','x','')",
                "SET @a=CAST(CONCAT('DROP ' 'DATA', _utf8mb4 'BASE', ' shop') AS CHAR)",
                "SET @a='1', @b='2', @c='3', @d='4', @e='5', @f='6', @g='7', @h='8', @i='DROP DATABASE shop'",
            })
    void theTextIsReadAsServersDo(String statement) {
        assertThat(flags(statement)).contains("dynamic_drop_database");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT 'DROP DATABASE shop', a FROM t",
                "INSERT INTO t VALUES (1, 'DROP DATABASE shop')",
                "SELECT 'DROP DATABASE shop' INTO OUTFILE 'x'",
                "SELECT 'a', 'b' INTO @a",
                "SET @a='/* DROP DATABASE */'",
                "SET @a='x -- y' 'DROP DATABASE shop'",
            })
    void otherTextsAreNoStatements(String statement) {
        assertThat(flags(statement)).doesNotContain("dynamic_drop_database");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SET @a = CONCAT('%', 'x')",
                "SET @a = CHAR(10)",
                "SET @a = CONCAT(@b, 'DROP DATABASE hr')",
                "SET @a = CONCAT('a', CONCAT('b', CONCAT('c', CONCAT('d', CONCAT('e', CONCAT('f'))))))",
                "SET @a = CONCAT('DROP DATABASE hr'",
                "SET @a = UNHEX('zz')",
                "SET @a = FROM_BASE64('?')"
            })
    void otherTextsAreNotAssembled(String statement) {
        assertThat(flags(statement)).doesNotContain("dynamic_assembled");
    }
}
