package io.tailrace.fingerprint.comment;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.StatementFlags;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommentFlagsTest {

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
                "SELECT a FROM t WHERE b = 1;-- -' AND c = 'y'",
                "SELECT a FROM t WHERE b = 'x'/*' AND c = '*/ OR d = 'y'",
                "SELECT a FROM t WHERE b = '' OR d = 'y' LIMIT 1;-- x' AND c = 'y'",
                "SELECT a FROM t WHERE b = 'x' -- z' OR c = 'y'",
                "SELECT a FROM t WHERE b = 'x' -- z')",
                "SELECT a FROM t WHERE b = 'x'#z'",
                "SELECT a FROM t WHERE b = 'x' -- z' LIMIT 1",
                "SELECT a FROM t WHERE b = 'x' # z' ORDER BY a",
                "INSERT INTO t VALUES ('a', 'x')\n-- ','y')",
                "INSERT INTO t VALUES ('a', 'x') -- z', 'y')",
                "UPDATE t SET a = 1 WHERE b = 'x'-- '"
            })
    void aCommentMayCutAStatement(String statement) {
        assertThat(StatementFlags.of(statement)).contains("comment_cuts_statement");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a FROM t -- the user's own",
                "SELECT a -- 'a' is new\n FROM t",
                "SELECT a FROM t -- the users' and their groups",
                "SELECT a FROM t -- the users', groups",
                "SELECT a FROM t -- the users' limit of rows",
                "SELECT a FROM t -- don't limit 5 rows",
                "SELECT a FROM t\n-- z' OR c = 'y'",
                "SELECT a FROM t\n-- 'a', 'b'",
                "SELECT a FROM t\n-- ' AND c = 'y'",
                "SELECT a FROM t WHERE b = 1 -- AND c = 2",
                "SELECT a FROM t WHERE b = '-- '' AND'",
                "SELECT a FROM t; -- done",
                "SELECT a FROM t; -- - done",
                "SELECT a FROM t WHERE b = 'x' /*'y'*/ AND c = 'y'",
                "SELECT a FROM t WHERE b = 'x'/* 'y' is new */ AND c = 'y'",
                "SELECT a, # first\n b FROM t",
                "-- ') header\nSELECT a FROM t",
                "SELECT a FROM t /* ' AND c = 'y' */",
                "SELECT a --1 FROM t"
            })
    void ordinaryCommentsCutNothing(String statement) {
        assertThat(StatementFlags.of(statement)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"SELECT/**/a/**/FROM/**/t", "SELECT a FROM t WHERE/*x*/b/*yz*/=/**/5"})
    void commentsForBlanksAreFlagged(String statement) {
        assertThat(StatementFlags.of(statement)).contains("comments_for_blanks");
    }

    @ParameterizedTest
    @ValueSource(strings = {"SELECT a/**/FROM/**/t", "/* one */ SELECT /* two */ a /* three */ FROM /* four */ t"})
    void fewOrLongCommentsAreNot(String statement) {
        assertThat(StatementFlags.of(statement)).isEmpty();
    }
}
