package io.tailrace.fingerprint;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Generates random statements on accounts, privileges and definitions. Every literal contains {@link #SECRET}, and
 * nothing else does; all names differ. Uses the syntax of MySQL 5.5 to 9 and MariaDB 10 to 12.
 */
public final class AccountStatements {

    /** In lower case; literals contain it in any case. */
    public static final String SECRET = "hunter";

    /**
     *
     * @param text the statement
     * @param accounts users and roles in their expected form
     * @param names hosts, databases, tables, columns and character sets, which are expected in lower case
     * @param certain whether every name must be reported; not required if quotes are unreliable or the statement is
     *     invalid
     */
    public record Statement(String text, List<String> accounts, List<String> names, boolean certain) {}

    private final Random random;
    private List<String> accounts = List.of();
    private List<String> names = List.of();
    private boolean certain;
    private int count;

    public AccountStatements(Random random) {
        this.random = random;
    }

    public Statement next() {
        accounts = new ArrayList<>();
        names = new ArrayList<>();
        certain = true;
        String text = statement();
        return new Statement(text, accounts, names, certain);
    }

    private String statement() {
        return switch (random.nextInt(14)) {
            case 0, 1, 2 -> words(any("CREATE", "ALTER"), "USER", list(this::withPassword), options());
            case 3 -> words("CREATE OR REPLACE USER IF NOT EXISTS", list(this::withPassword), options());
            case 4 -> words("DROP", any("USER", "ROLE"), any("", "IF EXISTS"), list(this::account));
            case 5 -> words("RENAME USER", list(() -> words(account(), "TO", account())));
            case 6, 7 -> grant();
            case 8 -> words("REVOKE", privileges(), "FROM", list(this::account));
            case 9 -> words("SET PASSWORD FOR", account(), "=", any("", "PASSWORD("), secret());
            case 10 -> roles();
            case 11 -> definition();
            case 12 -> table();
            default -> wrong();
        };
    }

    private String grant() {
        return switch (random.nextInt(4)) {
            case 0 -> words(
                    "GRANT", privileges(), "TO", list(this::withPassword), any("", "REQUIRE SSL WITH GRANT OPTION"));
            case 1 -> words("GRANT", list(this::account), "TO", list(this::account), any("", "WITH ADMIN OPTION"));
            case 2 -> words("GRANT PROXY ON", account(), "TO", list(this::account), any("", "WITH GRANT OPTION"));
            default -> words("GRANT", privileges(), "TO", list(this::account), "AS", account(), "WITH ROLE", account());
        };
    }

    private String privileges() {
        return words(any("ALL", "SELECT, INSERT (a), EXECUTE", "BACKUP_ADMIN"), "ON", any("", "TABLE"), object());
    }

    private String roles() {
        return switch (random.nextInt(6)) {
            case 0 -> words("SET ROLE", any("", "ALL EXCEPT"), list(this::account));
            case 1 -> words("SET DEFAULT ROLE", list(this::account), "TO", list(this::account));
            case 2 -> words("SHOW GRANTS FOR", account(), "USING", list(this::account));
            case 3 -> words("SHOW CREATE USER", account());
            case 4 -> words("KILL", any("", "HARD"), "USER", account());
            default -> words("CREATE ROLE", account(), "WITH ADMIN", account());
        };
    }

    private String definition() {
        return switch (random.nextInt(4)) {
            case 0 -> words("CREATE DEFINER", "=", account(), "VIEW", object(), "AS SELECT", secret());
            case 1 -> words(
                    "CREATE OR REPLACE ALGORITHM=MERGE DEFINER=", account(), "SQL SECURITY DEFINER VIEW v AS SELECT 1");
            case 2 -> words(
                    "/*!50003 CREATE*/ /*!50017 DEFINER=", account(), "*/ /*!50003 EVENT e DO SELECT", secret(), "*/");
            default -> words(
                    "CREATE DEFINER=",
                    account(),
                    "PROCEDURE p() BEGIN GRANT",
                    privileges(),
                    "TO",
                    list(this::account),
                    "; SELECT",
                    secret(),
                    "; END");
        };
    }

    private String table() {
        return switch (random.nextInt(5)) {
            case 0 -> words("RENAME TABLE", object(), "TO", object());
            case 1 -> words("USE", name());
            case 2 -> words("SET NAMES", characterSet(), "COLLATE", characterSet());
            case 3 -> words(
                    "CREATE TABLE",
                    object(),
                    "(",
                    name(),
                    "INT DEFAULT",
                    secret(),
                    "COMMENT",
                    secret(),
                    ") DEFAULT CHARSET =",
                    characterSet());
            default -> words(
                    "ALTER TABLE", object(), "CONVERT TO CHARACTER SET", characterSet(), ", COMMENT =", secret());
        };
    }

    /** A statement that a server rejects and nevertheless logs. */
    private String wrong() {
        certain = false;
        return switch (random.nextInt(8)) {
            case 0 -> words("GRANT ALL ON *.* TO", account(), secret());
            case 1 -> words("CREATE USER", account(), secret(), ",", account());
            case 2 -> words("CREATE USER", account(), "IDENTIFIED", secret(), ",", account());
            case 3 -> words("CREATE USER", account(), "IDENTIFIED BY", secret(), secret(), ",", account());
            case 4 -> words(
                    "CREATE USER", account(), "IDENTIFIED BY", secret(), any("oops", "/*!50000", "=", ")"), secret());
            case 5 -> words("SET PASSWORD FOR", account(), secret());
            case 6 -> words("SET PASSWORD /*!50000 FOR", account(), "*/ =", secret());
            default -> words("ALTER USER", account(), "ATTRIBUTE", secret(), ",", secret());
        };
    }

    private String withPassword() {
        String method =
                switch (random.nextInt(9)) {
                    case 0 -> "";
                    case 1 -> words("IDENTIFIED BY", any("", "PASSWORD"), secret());
                    case 2 -> words("IDENTIFIED WITH", any("p", "'p'"), any("BY", "AS"), secret());
                    case 3 -> words("IDENTIFIED VIA p USING", secret(), "OR q USING PASSWORD(", secret(), ")");
                    case 4 -> words("IDENTIFIED BY", secret(), "REPLACE", secret(), "RETAIN CURRENT PASSWORD");
                    case 5 -> words("IDENTIFIED BY", secret(), "AND IDENTIFIED WITH p AS", secret());
                    case 6 -> "IDENTIFIED BY " + any("<secret>", "***** ", "RANDOM PASSWORD");
                    case 7 -> "IDENTIFIED WITH 'caching_sha2_password' AS '<secret>'";
                    default -> words("IDENTIFIED BY", secret());
                };
        return words(account(), method);
    }

    private String options() {
        return switch (random.nextInt(6)) {
            case 0 -> words("REQUIRE SUBJECT", secret(), "AND ISSUER", secret(), "WITH MAX_QUERIES_PER_HOUR 5");
            case 1 -> words("DEFAULT ROLE", list(this::account));
            case 2 -> words("PASSWORD EXPIRE INTERVAL 3 DAY ACCOUNT LOCK", any("COMMENT", "ATTRIBUTE"), secret());
            case 3 -> words("; GRANT ALL ON *.* TO", account());
            default -> "";
        };
    }

    private String list(Supplier<String> element) {
        return IntStream.rangeClosed(0, random.nextInt(3))
                .mapToObj(i -> element.get())
                .collect(Collectors.joining(any(",", ", ", " , ", "/* c */,")));
    }

    private String account() {
        String user = any("Usr", "o''Usr", "Usr-", "x.Usr@") + count++ + "Z";
        boolean plain = user.startsWith("Usr") && !user.contains("-");
        accounts.add(user.replace("''", "'"));
        return quoted(user, plain)
                + switch (random.nextInt(4)) {
                    case 0 -> "";
                    case 1 -> any("@", " @ ", "/* c */@") + quoted(host(), false);
                    case 2 -> "@" + quoted(host(), false);
                    default -> "@" + host();
                };
    }

    private String host() {
        String host = any("Host", "10.0.0.") + count++;
        names.add(host);
        return host;
    }

    private String quoted(String name, boolean plain) {
        String quote = plain ? any("'", "\"", "`", "") : any("'", "\"");
        return quote + ("\"".equals(quote) ? name.replace("''", "'") : name) + quote;
    }

    private String object() {
        return random.nextBoolean() ? name() : name() + "." + name();
    }

    private String name() {
        String name = any("db", "tbl_") + count++ + any("", "_2024", "x9");
        names.add(name);
        return random.nextBoolean() ? name : "`" + name + "`";
    }

    private String characterSet() {
        String name = any("utf8mb4", "latin1", "utf8mb4_0900_ai_ci", "binary");
        names.add(name);
        return random.nextInt(3) == 0 ? name : "'" + name + "'";
    }

    private String secret() {
        String word = "HuNtEr" + Integer.toString(random.nextInt(1 << 20), 36);
        return switch (random.nextInt(10)) {
            case 0 -> "\"" + word + "\"";
            case 1 -> "'" + word + "''" + word + "'";
            case 2 -> "'a'', ''" + word + "@%'";
            case 3 -> "'\", \"" + word + "\"@\"'";
            case 4 -> uncertain("'\\'" + word + "\\\\'");
            case 5 -> uncertain("'a\\', \\'" + word + "'");
            case 6 -> "' /* -- # ` " + word + "'";
            default -> "'" + word + "'";
        };
    }

    /** A literal with a backslash, whose meaning depends on a mode that no log contains. */
    private String uncertain(String literal) {
        certain = false;
        return literal;
    }

    private String any(String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    /** Joins the words with any text that may separate them. */
    private String words(String... words) {
        StringBuilder text = new StringBuilder();
        for (String word : words) {
            if (!text.isEmpty() && !word.isEmpty()) {
                text.append(any(" ", " ", " ", "  ", "\n", "\t", "/* c */", " /* ' \" ` */ "));
            }
            text.append(
                    random.nextInt(4) == 0 && word.equals(word.toUpperCase(Locale.ROOT)) && word.matches("[A-Z ]+")
                            ? word.toLowerCase(Locale.ROOT)
                            : word);
        }
        return text.toString();
    }
}
