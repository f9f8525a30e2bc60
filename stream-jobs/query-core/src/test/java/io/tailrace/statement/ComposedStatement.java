package io.tailrace.statement;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/** A random statement, composed of joins, subqueries, unions and common table expressions, together with its tables. */
final class ComposedStatement {

    private static final int MAX_DEPTH = 3;

    private final Random random;
    private final Set<String> expressions = new HashSet<>();
    private int names;

    final Set<String> read = new TreeSet<>();
    final Set<String> written = new TreeSet<>();
    final String text;

    ComposedStatement(Random random) {
        this.random = random;
        text = statement();
    }

    private String statement() {
        return switch (random.nextInt(10)) {
            case 0 -> "INSERT INTO " + target() + " (a, b) " + query(1);
            case 1 -> "UPDATE " + target() + " SET a = " + scalar(1) + ", b = 5 WHERE " + condition(1);
            case 2 -> "DELETE FROM " + target() + " WHERE " + condition(1);
            case 3 -> "REPLACE INTO " + target() + " VALUES (1, " + scalar(1) + "), (2, 'from x')";
            case 4 -> "CREATE VIEW " + target() + " AS " + select(1);
            case 5 -> common();
            case 6 -> "CREATE TABLE " + target() + pick(" ", " (a INT) ", " ENGINE=InnoDB REPLACE ") + content();
            case 7 -> random.nextBoolean()
                    ? pick("DESC ", "DESCRIBE ANALYZE ") + query(1)
                    : "SHOW " + pick("TABLES", "STATUS", "PROCEDURE STATUS") + " WHERE " + condition(1);
            default -> query(0);
        };
    }

    private String common() {
        List<String> bodies = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            String name = "cte" + names++;
            bodies.add(
                    name + " AS (" + select(2) + ")" + pick("", "", "", " CYCLE a RESTRICT", " CYCLE a, `b` RESTRICT"));
            expressions.add(name);
        }
        return "WITH " + String.join(", ", bodies) + " " + select(1);
    }

    /** The query of a definition, which may begin without AS. */
    private String content() {
        if (random.nextInt(3) == 0) {
            String name = tableName();
            read.add(name);
            return pick("TABLE ", "AS TABLE ") + quoted(name);
        }
        return random.nextBoolean() ? common() : query(1);
    }

    private String target() {
        String name = tableName();
        written.add(name);
        return quoted(name);
    }

    private String tableName() {
        String table = pick("orders", "customers", "t1", "items_2024", "log", "v");
        return random.nextInt(3) == 0 ? pick("shop", "crm") + "." + table : table;
    }

    private String quoted(String name) {
        return random.nextInt(4) == 0 ? "`" + name.replace(".", "`.`") + "`" : name;
    }

    private String pick(String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private String query(int depth) {
        String first = select(depth);
        for (int i = random.nextInt(3); i > 0; i--) {
            first += pick(" UNION ", " UNION ALL ") + select(depth);
        }
        return first;
    }

    private String select(int depth) {
        return "SELECT " + pick("", "DISTINCT ", "/* FROM x */ ") + columns(depth) + " FROM " + tables(depth)
                + (random.nextBoolean() ? "" : " WHERE " + condition(depth))
                + pick("", " GROUP BY a", " GROUP BY a HAVING COUNT(*) > 2", " ORDER BY a DESC LIMIT 3, 4");
    }

    private String columns(int depth) {
        return pick("a", "COUNT(*)", "x.a, b AS c", "EXTRACT(YEAR FROM d) AS y", "IF(a, b, 'FROM t')", "*")
                + (random.nextInt(5) == 0 ? ", " + scalar(depth) + " AS s" : "");
    }

    private String tables(int depth) {
        StringBuilder tables = new StringBuilder(factor(depth));
        for (int i = random.nextInt(4); i > 0; i--) {
            tables.append(
                    switch (random.nextInt(4)) {
                        case 0 -> ", " + factor(depth);
                        case 1 -> " LEFT JOIN " + factor(depth) + " ON " + condition(depth + 1);
                        case 2 -> " INNER JOIN " + factor(depth) + " USING (a, b)";
                        default -> " CROSS JOIN " + factor(depth);
                    });
        }
        return tables.toString();
    }

    private String factor(int depth) {
        String alias = pick(" x", " AS y") + names++;
        if (depth < MAX_DEPTH && random.nextInt(5) == 0) {
            return "(" + query(depth + 1) + ")" + alias;
        }
        if (depth < MAX_DEPTH && random.nextInt(12) == 0) {
            return "(" + factor(depth + 1) + " JOIN " + factor(depth + 1) + ")";
        }
        if (!expressions.isEmpty() && random.nextInt(3) == 0) {
            return expressions.iterator().next() + alias;
        }
        String name = tableName();
        read.add(name);
        String table = quoted(name) + pick("", alias);
        return random.nextInt(40) == 0 ? "{" + pick("oj ", "x ", "`e` ", "Lateral ") + table + "}" : table;
    }

    private String condition(int depth) {
        return switch (depth < MAX_DEPTH ? random.nextInt(6) : 5) {
            case 0 -> "a IN (" + select(depth + 1) + ")";
            case 1 -> "EXISTS (" + select(depth + 1) + ") AND b = 'x'";
            case 2 -> "a > " + scalar(depth + 1);
            case 3 -> "a IN (1, 2, 3) OR (" + condition(depth + 1) + ")";
            default -> "x.a = y.b AND c LIKE 'FROM %' AND d BETWEEN 1 AND 2";
        };
    }

    private String scalar(int depth) {
        return depth < MAX_DEPTH ? "(SELECT MAX(a) FROM " + tables(depth + 1) + ")" : "MAX(a)";
    }
}
