package io.tailrace.fingerprint;

import io.tailrace.lexer.SqlMode;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Generates random statements for a server's mode, with secrets as literals of every form. Every literal contains one
 * of {@link #SECRETS}, in any case, and nothing else in a statement does.
 */
final class Statements {

    /** In lower case: a word, digits of numbers, hexadecimal digits, bits. */
    static final List<String> SECRETS = List.of("secret", "987654", "deadbeef", "010110");

    private static final String WORD = "sEcReT";

    private final Random random;
    private final SqlMode mode;

    Statements(Random random, SqlMode mode) {
        this.random = random;
        this.mode = mode;
    }

    String next() {
        return switch (random.nextInt(18)) {
            case 0 -> "SELECT " + columns() + blank() + "FROM" + blank() + name() + " WHERE " + condition() + tail();
            case 1 -> "insert into " + name() + " (" + columns() + ") VALUES" + rows();
            case 2 -> "UPDATE " + name() + " SET " + name() + "=" + literal() + " where " + condition();
            case 3 -> "DELETE FROM " + name() + " WHERE " + condition();
            case 4 -> "SELECT " + literal() + " UNION ALL SELECT " + literal();
            case 5 -> "SET @" + name() + " := " + literal() + "; SELECT " + literal();
            case 6 -> "CALL " + name() + "(" + literal() + ", " + literal() + ")";
            case 7 -> "/*!50001 SELECT " + literal() + " */ FROM " + name() + " /* c */";
            case 8 -> "WITH a AS (SELECT " + literal() + ") SELECT " + literal() + blank() + "FROM a";
            case 9 -> "LOAD DATA INFILE " + literal() + " INTO TABLE " + name() + " SET a = " + literal();
            case 10 -> "PREPARE s FROM " + literal() + "; EXECUTE s";
            case 11 -> password();
            case 12 -> "CREATE FUNCTION f() RETURNS INT LANGUAGE JAVASCRIPT AS" + blank() + dollarQuoted();
            case 13 -> "SELECT" + comment() + name() + comment() + "FROM" + comment() + name() + comment();
            case 14 -> comment() + "INSERT INTO " + name() + " SELECT a->'$." + WORD + "', " + literal() + " AS '"
                    + WORD + "'";
            case 15 -> definition();
            case 16 -> "SELECT " + quotesOfSomeServers() + ' ' + literal() + " AS a" + quotesOfSomeServers() + " FROM "
                    + name() + " WHERE a = " + literal() + quotesOfSomeServers();
            default -> "CREATE USER 'a'@'%' IDENTIFIED BY " + literal() + ", b ATTRIBUTE " + literal();
        };
    }

    /** Statements whose names keep their digits. */
    private String definition() {
        return switch (random.nextInt(8)) {
            case 0 -> "CREATE TABLE " + name() + " (" + name() + " INT DEFAULT " + literal() + " COMMENT " + literal()
                    + ")";
            case 1 -> "ALTER TABLE " + name() + " ADD c VARCHAR(" + number() + ") DEFAULT(" + literal() + ")";
            case 2 -> "CREATE VIEW " + name() + " AS SELECT " + literal() + " FROM " + name() + " WHERE " + condition();
            case 3 -> "SET GLOBAL " + name() + "=" + literal() + ", @a1=" + literal();
            case 4 -> "SHOW COLUMNS FROM " + name() + " WHERE " + condition();
            case 5 -> "GRANT SELECT ON " + name() + " TO 'a'@'%' REQUIRE SUBJECT " + literal() + " AND ISSUER "
                    + literal();
            case 6 -> "USE " + name() + "; SET NAMES utf8mb4; SELECT " + literal() + "; KILL " + number();
            default -> "CREATE DEFINER='a'@'%' PROCEDURE p1() BEGIN SET " + name() + "=" + literal() + "; GRANT "
                    + name() + " TO b; INSERT INTO t VALUES" + rows() + "; END";
        };
    }

    /** A password without quotes, or one that a server has partly masked. */
    private String password() {
        String bare = List.of(WORD, "*" + WORD, "*****\\'" + WORD + "\\'", "PASSWORD " + WORD, "'" + WORD)
                .get(random.nextInt(5));
        String statement = List.of(
                        "CREATE USER a IDENTIFIED BY ",
                        "ALTER USER a IDENTIFIED WITH x AS ",
                        "GRANT ALL ON *.* TO a IDENTIFIED BY ",
                        "SET PASSWORD FOR a = ",
                        "CHANGE MASTER TO MASTER_PASSWORD = ",
                        "CREATE SERVER s FOREIGN DATA WRAPPER w OPTIONS (PASSWORD ",
                        "CLONE INSTANCE FROM u@h:3306 IDENTIFIED BY ",
                        "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD=",
                        "START SLAVE USER='u' PASSWORD=",
                        "ALTER USER a IDENTIFIED BY 'x' REPLACE ",
                        "CREATE USER a IDENTIFIED VIA x USING ",
                        "SET PERSIST group_replication_recovery_password = ",
                        "SET GLOBAL s3_access_key = ",
                        "SET PERSIST_ONLY b=1, @@GLOBAL.wsrep_sst_auth:=",
                        "SET PERSIST authentication_ldap_simple_bind_root_pwd=/* c */")
                .get(random.nextInt(15));
        String before = List.of(
                        "",
                        "",
                        "/*!50000 ",
                        "SELECT 1; ",
                        "CREATE DEFINER=r@h PROCEDURE p(a INT) BEGIN SELECT 1; ",
                        "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO ",
                        "BEGIN NOT ATOMIC IF x THEN ",
                        "l: BEGIN ",
                        "SET STATEMENT a=1 FOR ")
                .get(random.nextInt(9));
        return before
                + statement
                + bare
                + List.of("", " REQUIRE NONE", "; SELECT 1").get(random.nextInt(3));
    }

    /** The body of a program in another language, which may contain any text except its tag. */
    private String dollarQuoted() {
        String tag = List.of("$$", "$js$", "$a1$").get(random.nextInt(3));
        return tag + " return '" + WORD + "` + \"$ /* " + WORD + "; -- $x$ " + tag;
    }

    /** A comment that no server runs. It may contain any text, unless the application writes it as a tag. */
    private String comment() {
        return List.of(
                        "/* " + WORD + " ' */",
                        "/*+ QB_NAME(" + WORD + ") */",
                        "/*!99999 " + WORD + " */",
                        "/*password='" + WORD + "'*/",
                        "/*" + WORD + "*/",
                        "/* \" ` " + WORD + "\n# */",
                        " -- " + WORD + " ' \" `\n",
                        " # /* " + WORD + " '\n",
                        " ")
                .get(random.nextInt(9));
    }

    /** A comment that only some servers run, or none, with a quote or comment that changes what follows for the others. */
    private String quotesOfSomeServers() {
        return List.of(
                        " /*!99998 ' */",
                        " /*!80100 \" */",
                        " /*!100500 ` */",
                        " /*M! ' */",
                        " /*M!100100 \" */",
                        " /*!99999 ' */",
                        " /*!99999 /* ' */ \" */",
                        " /*!99998 /* ' */ ' */",
                        " /*!90000 # ' */",
                        " /*!80016 ENCRYPTION='" + WORD + "' */")
                .get(random.nextInt(10));
    }

    private String blank() {
        return List.of(" ", "  ", "\n", "\t", "/* c */", " -- c\n", " # c\n", "\r\n")
                .get(random.nextInt(8));
    }

    private String name() {
        String name = List.of("t", "orders", "`order items`", "shop.t2", "`a``b`", "sbtest17", "c_9f", "été", "a$b")
                .get(random.nextInt(9));
        return mode.ansiQuotes() ? name.replace('`', '"') : name;
    }

    private String columns() {
        return IntStream.rangeClosed(0, random.nextInt(3))
                .mapToObj(i -> name())
                .collect(Collectors.joining(List.of(",", ", ", " , ").get(random.nextInt(3))));
    }

    private String condition() {
        return switch (random.nextInt(5)) {
            case 0 -> name() + " IN " + list();
            case 1 -> name() + " BETWEEN " + literal() + " AND " + literal();
            case 2 -> "a = " + literal() + " AND " + condition();
            case 3 -> "f(" + literal() + ")>" + literal();
            default -> name() + " like " + literal() + " or " + name() + " is null";
        };
    }

    private String list() {
        return IntStream.rangeClosed(0, random.nextInt(4))
                .mapToObj(i -> literal())
                .collect(Collectors.joining(random.nextBoolean() ? "," : ", ", "(", ")"));
    }

    private String rows() {
        return IntStream.rangeClosed(0, random.nextInt(3))
                .mapToObj(i -> random.nextBoolean() ? list() : "(NOW(), " + literal() + ")")
                .collect(Collectors.joining(",", random.nextBoolean() ? " " : "", ""));
    }

    private String tail() {
        return switch (random.nextInt(5)) {
            case 0 -> " LIMIT " + number() + ", " + number();
            case 1 -> " ORDER BY a ASC, b desc limit " + number() + " OFFSET " + number();
            case 2 -> " /* note */";
            case 3 -> " GROUP BY a HAVING COUNT(*) > " + number() + ";";
            default -> "";
        };
    }

    private String number() {
        return "987654" + random.nextInt(1_000);
    }

    private String literal() {
        String word = WORD + Integer.toString(random.nextInt(1 << 20), 36) + "zq";
        return switch (random.nextInt(27)) {
            case 18 -> "X'DEADBEEF' 'deadbeef'";
            case 19 -> "_binary 0xDEADBEEF";
            case 20 -> "INTERVAL '" + word + "' DAY";
            case 21 -> "'" + word + ";\n# User@Host: a[" + word + "] @ b []\n" + word + "'";
            case 22 -> "'$$ " + word + " $js$'";
            case 23 -> "'é\u20ac" + word + "\u0001'";
            case 24 -> "_utf8mb4" + (mode.ansiQuotes() ? "'" + word + "'" : '"' + word + '"') + " COLLATE utf8mb4_bin";
            case 25 -> "''";
            case 0, 1 -> "'" + word + "'";
            case 2 -> mode.ansiQuotes() ? "'" + word + "'" : '"' + word + '"';
            case 3 -> "'" + word + "''" + word + "'";
            case 4 -> mode.noBackslashEscapes() ? "'" + word + "\\'" : "'\\'" + word + "\\\\'";
            case 5 -> "_utf8mb4 '" + word + "\n" + word + "'";
            case 6 -> "N'" + word + "'";
            case 7 -> "0xDEADBEEF" + random.nextInt(10);
            case 8 -> "x'DEADBEEF'";
            case 9 -> "-" + number() + "." + number();
            case 10 -> "." + number() + "e-7";
            case 11 -> "b'0101101'";
            case 12 -> "'" + word + "/* -- # \" `'";
            case 13 -> "0b0101101";
            case 14 -> "DATE '" + word + "'";
            case 15 -> "{ts '" + word + "'}";
            case 16 -> "'" + word + "' '" + word + "'";
            case 17 -> number() + "E+" + random.nextInt(9);
            default -> number();
        };
    }
}
