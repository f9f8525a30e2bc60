package io.tailrace.fingerprint;

import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Statements made at random, with secrets planted as literals of every form. */
final class Statements {

    private Statements() {}

    /** A statement; its literals are added to {@code secrets}: words or numbers that stand nowhere else in it. */
    static String random(Random random, List<String> secrets) {
        return switch (random.nextInt(8)) {
            case 0 -> "SELECT " + columns(random) + blank(random) + "FROM" + blank(random) + name(random) + " WHERE "
                    + condition(random, secrets) + tail(random, secrets);
            case 1 -> "insert into " + name(random) + " (" + columns(random) + ") VALUES" + rows(random, secrets);
            case 2 -> "UPDATE " + name(random) + " SET " + name(random) + "=" + literal(random, secrets) + " where "
                    + condition(random, secrets);
            case 3 -> "DELETE FROM " + name(random) + " WHERE " + condition(random, secrets);
            case 4 -> "SELECT " + literal(random, secrets) + " UNION ALL SELECT " + literal(random, secrets);
            case 5 -> "SET @" + name(random) + " := " + literal(random, secrets) + "; SELECT "
                    + literal(random, secrets);
            case 6 -> "CALL " + name(random) + "(" + literal(random, secrets) + ", " + literal(random, secrets) + ")";
            default -> "CREATE USER " + literal(random, secrets) + "@'%' IDENTIFIED BY " + literal(random, secrets);
        };
    }

    private static String blank(Random random) {
        return List.of(" ", "  ", "\n", "\t", "/* c */", " -- c\n", " # c\n", "\r\n")
                .get(random.nextInt(8));
    }

    private static String name(Random random) {
        return List.of("t", "orders", "`order items`", "shop.t2", "`a``b`", "sbtest17", "c_9f", "été", "a$b")
                .get(random.nextInt(9));
    }

    private static String columns(Random random) {
        return IntStream.rangeClosed(0, random.nextInt(3))
                .mapToObj(i -> name(random))
                .collect(Collectors.joining(List.of(",", ", ", " , ").get(random.nextInt(3))));
    }

    private static String condition(Random random, List<String> secrets) {
        return switch (random.nextInt(5)) {
            case 0 -> name(random) + " IN " + list(random, secrets);
            case 1 -> name(random) + " BETWEEN " + literal(random, secrets) + " AND " + literal(random, secrets);
            case 2 -> "a = " + literal(random, secrets) + " AND " + condition(random, secrets);
            case 3 -> "f(" + literal(random, secrets) + ")>" + literal(random, secrets);
            default -> name(random) + " like " + literal(random, secrets) + " or " + name(random) + " is null";
        };
    }

    private static String list(Random random, List<String> secrets) {
        return IntStream.rangeClosed(0, random.nextInt(4))
                .mapToObj(i -> literal(random, secrets))
                .collect(Collectors.joining(random.nextBoolean() ? "," : ", ", "(", ")"));
    }

    private static String rows(Random random, List<String> secrets) {
        return IntStream.rangeClosed(0, random.nextInt(3))
                .mapToObj(
                        i -> random.nextBoolean() ? list(random, secrets) : "(NOW(), " + literal(random, secrets) + ")")
                .collect(Collectors.joining(",", random.nextBoolean() ? " " : "", ""));
    }

    private static String tail(Random random, List<String> secrets) {
        return switch (random.nextInt(5)) {
            case 0 -> " LIMIT " + number(random, secrets) + ", " + number(random, secrets);
            case 1 -> " ORDER BY a ASC, b desc limit " + number(random, secrets) + " OFFSET " + number(random, secrets);
            case 2 -> " /* " + "note" + " */";
            case 3 -> " GROUP BY a HAVING COUNT(*) > " + number(random, secrets) + ";";
            default -> "";
        };
    }

    private static String number(Random random, List<String> secrets) {
        String number = Integer.toString(100_000_000 + random.nextInt(900_000_000));
        secrets.add(number);
        return number;
    }

    private static String literal(Random random, List<String> secrets) {
        String word = "sEcReT" + Integer.toString(random.nextInt(1 << 30), 36) + "zq";
        switch (random.nextInt(14)) {
            case 0, 1 -> {
                secrets.add("secret");
                return "'" + word + "'";
            }
            case 2 -> {
                secrets.add("secret");
                return "\"" + word + "\"";
            }
            case 3 -> {
                secrets.add("secret");
                return "'" + word + "''" + word + "'";
            }
            case 4 -> {
                secrets.add("secret");
                return "'\\'" + word + "\\\\'";
            }
            case 5 -> {
                secrets.add("secret");
                return "_utf8mb4 '" + word + "\n" + word + "'";
            }
            case 6 -> {
                secrets.add("secret");
                return "N'" + word + "'";
            }
            case 7 -> {
                secrets.add("deadbeef");
                return "0xDEADBEEF" + random.nextInt(10);
            }
            case 8 -> {
                secrets.add("deadbeef");
                return "x'DEADBEEF'";
            }
            case 9 -> {
                return "-" + number(random, secrets) + "." + number(random, secrets);
            }
            case 10 -> {
                return "." + number(random, secrets) + "e-7";
            }
            case 11 -> {
                return "b'" + "0101" + "'";
            }
            case 12 -> {
                secrets.add("secret");
                return "'" + word + "/* -- # \" `'";
            }
            default -> {
                return number(random, secrets);
            }
        }
    }
}
