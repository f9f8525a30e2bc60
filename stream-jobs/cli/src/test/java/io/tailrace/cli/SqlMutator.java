package io.tailrace.cli;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Writes a statement in another way that servers read the same, or that has the same effect: letter case, white space and
 * comments, quotes, encodings of literals, synonyms. The same seed gives the same variants.
 */
final class SqlMutator {

    private static final List<String> BLANKS =
            List.of("  ", "\t", "\n", "/**/", " /* x */ ", "/*y*/", " -- z\n", " #z\n", "\r\n ", "\u00a0");

    private static final List<String> TRUE_CONDITIONS = List.of(
            "2>1",
            "'a'='a'",
            "1 LIKE 1",
            "NOT FALSE",
            "TRUE",
            "7",
            "!0",
            "1<=>1",
            "1 IN (1)",
            "~0",
            "-1",
            "(1)=(1)",
            "1 IS NOT NULL",
            "2 BETWEEN 1 AND 3",
            "0x61='a'",
            "'b'>'a'",
            "1.0=1",
            "3-2=1",
            "NOT 0",
            "char(49)=1");

    private static final List<String> OFF_VALUES =
            List.of("OFF", "0", "FALSE", "'OFF'", "'off'", "(SELECT 0)", "@v", "1-1", "NOT 1", "0.0", "1 > 2");
    private static final List<String> ON_VALUES =
            List.of("ON", "1", "TRUE", "'ON'", "(SELECT 1)", "@v", "2-1", "NOT 0", "1 < 2");

    /** Words that a server reads alike, or that have the same effect here. */
    private static final List<List<String>> SYNONYMS = List.of(
            List.of("INTO OUTFILE", "INTO DUMPFILE"),
            List.of("PURGE BINARY", "PURGE MASTER"),
            List.of("DROP DATABASE", "DROP SCHEMA", "DROP DATABASE IF EXISTS"),
            List.of("STOP REPLICA", "STOP SLAVE"),
            List.of("CREATE USER", "CREATE USER IF NOT EXISTS"),
            List.of("DROP USER", "DROP USER IF EXISTS"),
            List.of("DROP TABLE", "DROP TABLE IF EXISTS"),
            List.of("CREATE EVENT", "CREATE EVENT IF NOT EXISTS", "CREATE OR REPLACE EVENT"),
            List.of("CREATE TRIGGER", "CREATE TRIGGER IF NOT EXISTS"),
            List.of("GRANT ALL", "GRANT ALL PRIVILEGES"),
            List.of("TRUNCATE TABLE", "TRUNCATE"),
            List.of("INSERT INTO", "REPLACE INTO", "INSERT IGNORE INTO", "INSERT LOW_PRIORITY INTO", "INSERT"),
            List.of("DELETE FROM", "DELETE LOW_PRIORITY FROM", "DELETE QUICK FROM", "DELETE IGNORE FROM"),
            List.of("UPDATE", "UPDATE LOW_PRIORITY", "UPDATE IGNORE"),
            List.of("UNION SELECT", "UNION ALL SELECT", "UNION DISTINCT SELECT", "UNION  SELECT ALL"),
            List.of("RENAME TABLE", "RENAME TABLES"),
            List.of("ALTER USER", "ALTER USER IF EXISTS"),
            List.of("LOAD DATA", "LOAD DATA LOW_PRIORITY"));

    /** Comments that some servers skip; for others, the rest is in a literal or comment. */
    static final List<String> HIDING = List.of("/*!99998 ' */", "/*!80500 \" */", "/*M! ` */", "/*!100700 # */");

    private static final Pattern TABLE =
            Pattern.compile("\\b(FROM|INTO|TABLE|UPDATE|JOIN) ([a-z_]\\w*)(?:\\.([a-z_]\\w*))?\\b(?!\\()");
    private static final Pattern ESCAPABLE = Pattern.compile(
            "\\b(FROM|JOIN) ([a-z_]\\w*(?:\\.[a-z_]\\w*)?)(?=$|\\)| (?:WHERE|UNION|INTO|LIMIT|ORDER|GROUP|ON|USING)\\b)");
    private static final Pattern SETTING = Pattern.compile("^SET (?:GLOBAL |PERSIST |@@GLOBAL\\.)([a-z_.]+) = (.+)$");
    private static final Pattern SESSION =
            Pattern.compile("^SET (?:SESSION |@@SESSION\\.)?(sql_log_bin|gtid_next) = (.+)$");
    private static final Pattern ACCOUNT = Pattern.compile("'(\\w+)'@'([^']*)'");
    private static final Pattern NUMBER = Pattern.compile("(?<== )(-?\\d+) (?=(?:AND|OR|UNION|ORDER|LIMIT)\\b)");
    private static final Pattern PREPARED =
            Pattern.compile("(PREPARE s FROM |EXECUTE IMMEDIATE |SET @a = )'([A-Z][^']*)'");
    private static final Pattern CONDITION = Pattern.compile("(?<= )(1=1|TRUE|2>1|5=5|2 > 1|1 = 1|'a'='a')(?= |$|\\))");

    private final Random random;
    private final List<UnaryOperator<String>> mutations = List.of(
            this::letterCase,
            this::blanks,
            this::version,
            this::quotedTable,
            this::qualifiedTable,
            this::escapedTable,
            this::texts,
            this::condition,
            this::or,
            this::setting,
            this::synonym,
            this::account,
            this::numbers,
            this::preparedText,
            this::around,
            this::operators);

    SqlMutator(long seed) {
        random = new Random(seed);
    }

    /** Returns the statement after one to three mutations that change it. */
    String variant(String sql) {
        int wanted = 1 + random.nextInt(3);
        String changed = sql;
        // the mutations of form come last: they insert comments, which the others do not read
        List<Integer> chosen = new ArrayList<>();
        for (int i = 0; i < wanted * 3; i++) {
            chosen.add(random.nextInt(mutations.size()));
        }
        int done = 0;
        for (int index : chosen.stream()
                .sorted((a, b) -> Integer.compare(b, a))
                .distinct()
                .toList()) {
            String next = done < wanted ? mutations.get(index).apply(changed) : changed;
            done += next.equals(changed) ? 0 : 1;
            changed = next;
        }
        return done == 0 ? letterCase(sql) : changed;
    }

    private <T> T any(List<T> values) {
        return values.get(random.nextInt(values.size()));
    }

    private String letterCase(String sql) {
        int style = random.nextInt(3);
        return SqlText.of(sql).each(token -> SqlText.isKeyword(token) ? cased(token, style) : token);
    }

    private String cased(String word, int style) {
        return switch (style) {
            case 0 -> word.toLowerCase(Locale.ROOT);
            case 1 -> word.charAt(0) + word.substring(1).toLowerCase(Locale.ROOT);
            default -> word.chars()
                    .mapToObj(c -> String.valueOf((char) (random.nextBoolean() ? Character.toLowerCase(c) : c)))
                    .collect(Collectors.joining());
        };
    }

    private String blanks(String sql) {
        boolean all = random.nextBoolean();
        String same = any(BLANKS);
        return SqlText.of(sql)
                .each(token ->
                        !SqlText.isBlank(token) ? token : all ? same : random.nextInt(3) == 0 ? any(BLANKS) : token);
    }

    /** Puts one keyword into a version comment, or a quote into one for other servers before the statement. */
    private String version(String sql) {
        SqlText text = SqlText.of(sql);
        List<Integer> keywords = text.places(SqlText::isKeyword);
        if (keywords.isEmpty()) {
            return sql;
        }
        if (random.nextInt(4) == 0) {
            return any(HIDING) + ' ' + sql;
        }
        int place = any(keywords);
        String begin = random.nextBoolean() ? "/*!50000 " : "/*! ";
        List<String> tokens = new ArrayList<>(text.tokens());
        tokens.set(place, begin + tokens.get(place) + " */");
        return String.join("", tokens);
    }

    private String quotedTable(String sql) {
        boolean spaced = random.nextInt(4) == 0;
        return TABLE.matcher(sql).replaceAll(found -> {
            String second = found.group(3) == null ? "" : (spaced ? " . " : ".") + '`' + found.group(3) + '`';
            return Matcher.quoteReplacement(found.group(1) + " `" + found.group(2) + '`' + second);
        });
    }

    private String qualifiedTable(String sql) {
        return TABLE.matcher(sql)
                .replaceAll(found -> Matcher.quoteReplacement(
                        found.group(3) == null && !found.group(2).equals("shop")
                                ? found.group(1) + " shop." + found.group(2)
                                : found.group()));
    }

    /** Writes the tables of a query as ODBC escapes, whose names servers ignore. */
    private String escapedTable(String sql) {
        if (!sql.startsWith("SELECT ")) {
            return sql;
        }
        return ESCAPABLE.matcher(sql).replaceAll(found -> {
            String escape = any(List.of(" {oj ", "{x ", " {`from`"));
            return Matcher.quoteReplacement(found.group(1) + escape + found.group(2) + '}');
        });
    }

    /** Writes a text in other quotes or as several; in a condition, also in another encoding. */
    private String texts(String sql) {
        SqlText text = SqlText.of(sql);
        List<Integer> places = text.places(SqlText::isText);
        if (places.isEmpty() || sql.contains("@'")) {
            return sql;
        }
        int place = any(places);
        String value = text.tokens().get(place);
        boolean expression =
                sql.startsWith("SELECT") && !sql.contains("OUTFILE") && !sql.contains("DUMPFILE") && value.length() > 2;
        return text.with(place, expression ? encoded(value) : value.replace('\'', '"'))
                .sql();
    }

    private String encoded(String quoted) {
        String value = quoted.substring(1, quoted.length() - 1);
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        StringBuilder digits = new StringBuilder();
        List<String> codes = new ArrayList<>();
        for (byte b : bytes) {
            digits.append(String.format("%02x", b));
            codes.add(String.valueOf(b));
        }
        return any(List.of(
                "0x" + digits,
                "x'" + digits + "'",
                "_utf8'" + value + "'",
                "_utf8mb4 0x" + digits,
                "N'" + value + "'",
                "\"" + value + "\"",
                "CHAR(" + String.join(",", codes) + ")",
                "'" + value.charAt(0) + "' '" + value.substring(1) + "'"));
    }

    private String condition(String sql) {
        return CONDITION.matcher(sql).replaceFirst(Matcher.quoteReplacement(any(TRUE_CONDITIONS)));
    }

    private String or(String sql) {
        if (!sql.contains(" WHERE ")) {
            return sql; // CREATE OR REPLACE, BINARY LOGS AND GTIDS
        }
        return random.nextBoolean() ? sql.replace(" OR ", " || ") : sql.replace(" AND ", " && ");
    }

    private String setting(String sql) {
        Matcher setting = SETTING.matcher(sql);
        Matcher session = SESSION.matcher(sql);
        if (session.matches()) {
            String scope = any(List.of("", "SESSION ", "LOCAL ", "@@", "@@SESSION.", "@@LOCAL."));
            return "SET " + scope + session.group(1) + any(List.of(" = ", "=", " := ")) + value(session.group(2));
        }
        if (!setting.matches()) {
            return sql;
        }
        String scope = any(List.of(
                "GLOBAL ",
                "@@GLOBAL.",
                "PERSIST ",
                "@@PERSIST.",
                "autocommit = 1, GLOBAL ",
                "GLOBAL wait_timeout = 600, ",
                "@a = 1, @@GLOBAL."));
        String name = random.nextInt(4) == 0 && setting.group(1).indexOf('.') < 0
                ? "`" + setting.group(1) + '`'
                : setting.group(1);
        return "SET " + scope + name + any(List.of(" = ", "=", " := ")) + value(setting.group(2));
    }

    private String value(String value) {
        return switch (value) {
            case "0", "OFF", "FALSE" -> any(OFF_VALUES);
            case "1", "ON", "TRUE" -> any(ON_VALUES);
            default -> value;
        };
    }

    private String synonym(String sql) {
        List<List<String>> fitting = SYNONYMS.stream()
                .filter(words -> words.stream().limit(2).anyMatch(word -> sql.contains(word + ' ')))
                .toList();
        if (fitting.isEmpty()) {
            return sql;
        }
        List<String> words = any(fitting);
        String written = sql.contains(words.get(0) + ' ') ? words.get(0) : words.get(1);
        String other = any(words);
        return sql.contains(other) ? sql : sql.replace(written + ' ', other + ' ');
    }

    private String account(String sql) {
        String form = any(List.of("$1@'$2'", "\"$1\"@\"$2\"", "`$1`@`$2`", "'$1' @ '$2'", "$1@`$2`"));
        return ACCOUNT.matcher(sql).replaceAll(form);
    }

    /** Writes a number with a point or an exponent, after which a keyword needs no blank. */
    private String numbers(String sql) {
        return NUMBER.matcher(sql).replaceAll("$1" + any(List.of(".0", ".", "e0", "E+0")));
    }

    /** Changes the text of a prepared statement, which servers read as they read a statement. */
    private String preparedText(String sql) {
        Matcher prepared = PREPARED.matcher(sql);
        if (!prepared.matches()) {
            return sql;
        }
        String text = prepared.group(2);
        String inner = any(List.of(
                text.replace(" ", "/**/"), "/* x */" + text, "/*!50000 " + text + "*/", "-- x\n" + text, text + " #"));
        int half = text.length() / 2;
        boolean expression = !sql.startsWith("PREPARE") && random.nextBoolean();
        return prepared.group(1)
                + (expression
                        ? any(List.of(
                                "'" + text.substring(0, half) + "' '" + text.substring(half) + "'",
                                "N'" + text + "'",
                                "CAST('" + text + "' AS CHAR)"))
                        : "'" + inner + "'");
    }

    private String around(String sql) {
        boolean open = sql.contains("--") || sql.contains("#") || sql.endsWith("'/*' AND pass = 'x'");
        return any(List.of(
                "/* app */ " + sql,
                open ? sql : sql + " ;",
                open ? sql : sql + " -- done",
                open ? sql : "SET STATEMENT max_statement_time=60 FOR " + sql,
                "\n\n" + sql,
                open ? sql : sql + " /*shop.t:1/2*/",
                open ? sql : "/*!50000 " + sql + " */"));
    }

    /** Changes the white space around comparisons. */
    private String operators(String sql) {
        boolean tight = random.nextBoolean();
        return SqlText.of(sql)
                .each(token -> token.equals("=") || token.equals(">") ? tight ? token : "  " + token + ' ' : token);
    }
}
