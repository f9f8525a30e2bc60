package io.tailrace.cli;

import io.tailrace.cli.DatabaseOperation.Account;
import io.tailrace.cli.DatabaseOperation.Kind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Generates concurrent connections with 500 statements, accepted and refused logins, and changes of the database. */
final class DayOfWork {

    static final int STATEMENTS = 500;

    private static final Instant START = Instant.parse("2026-11-21T02:00:00Z");
    private static final int MISSING_TABLE = 1146;
    private static final int REFUSED = 1045;
    private static final int CONNECTIONS = 8;

    private static final List<Account> ACCOUNTS = List.of(
            new Account("app", "web1", "10.0.0.7"),
            new Account("app", "", "10.0.0.9"),
            new Account("root", "localhost", ""),
            new Account("o'neil", "", "203.0.113.7"),
            new Account("report", "db-tools.example", "10.0.0.11"),
            new Account("app", "", "2001:db8::7"),
            new Account("root", "", "198.51.100.4"),
            new Account("billing", "localhost", "127.0.0.1"));

    /** {@code text | tables read | tables written}; T is a table, N a number. */
    private static final List<String> TEXTS = List.of(
            "SELECT * FROM T WHERE id = N|T|",
            "SELECT a.id, b.email FROM T a JOIN crm.customers b ON b.id = a.customer_id WHERE a.id > N|T crm.customers|",
            "INSERT INTO T (id, note) VALUES (N, 'it''s \"quoted\" \\\\ 100% & <b>\nnext')||T",
            "UPDATE T SET note = 'x' WHERE id = N||T",
            "DELETE FROM T WHERE id = N||T",
            "SELECT card_number, expires FROM cards WHERE customer_id = N|cards|",
            "INSERT INTO archive SELECT * FROM T WHERE id < N|T|archive",
            "SELECT id FROM T WHERE id = N OR 1=1|T|",
            "SELECT email FROM crm.customers LIMIT N|crm.customers|",
            "SET SESSION sql_log_bin = 0||",
            "GRANT SELECT ON shop.* TO 'uN'@'10.0.0.%'||",
            "DROP TABLE IF EXISTS old_T||old_T",
            "SHOW TABLES||",
            "SELECT N||",
            "TRUNCATE TABLE T||T",
            "/* nightly */ SELECT count(*) FROM T|T|",
            "SELECT 'zażółć 😀' FROM `T` WHERE id IN (N, 2, 3)|T|",
            "SELECT * FROM missing WHERE id = N|missing|",
            "CREATE TABLE new_T (id int)||new_T",
            "UPDATE T SET note = NULL||T",
            "SELECT * FROM T INTO OUTFILE '/tmp/N.txt'|T|",
            "LOAD DATA INFILE '/tmp/N.csv' INTO TABLE T||T",
            "LOAD DATA LOCAL INFILE '/tmp/N.csv' REPLACE INTO TABLE T FIELDS TERMINATED BY ','||T",
            "CALL shop.monthly(N)||",
            "CREATE USER 'uN'@'%' IDENTIFIED BY 'a secret'||",
            "ALTER USER 'uN'@'%' ACCOUNT UNLOCK||",
            "DROP USER 'uN'@'%'||",
            "SET GLOBAL general_log = OFF||",
            "SET GLOBAL read_only = OFF||",
            "UNINSTALL COMPONENT 'file://component_audit_log_filter'||",
            "UNINSTALL PLUGIN server_audit||",
            "SELECT user, authentication_string FROM mysql.user|mysql.user|",
            "REPLACE INTO T (id) VALUES (N)||T");

    private static final List<String> TABLES = List.of("orders", "customers", "cards", "stock");

    private final List<DatabaseOperation> operations = new ArrayList<>();
    private final Account[] accounts = new Account[CONNECTIONS];
    private final String[] databases = new String[CONNECTIONS];

    private DayOfWork() {}

    /** Returns the operations in the order of their execution. */
    static List<DatabaseOperation> operations() {
        DayOfWork work = new DayOfWork();
        for (int i = 0; i < CONNECTIONS; i++) {
            work.refused(i);
            work.login(i);
        }
        for (int i = 0; i < STATEMENTS; i++) {
            work.step(i);
        }
        for (int i = 0; i < CONNECTIONS; i++) {
            work.add(Kind.LOGOUT, i, null, 0, List.of(), List.of());
        }
        return work.operations;
    }

    private void refused(int i) {
        accounts[i] = ACCOUNTS.get((i + 3) % ACCOUNTS.size());
        databases[i] = i % 2 == 0 ? "shop" : "";
        operations.add(new DatabaseOperation(
                Kind.LOGIN, now(), 900 + i, accounts[i], databases[i], null, REFUSED, List.of(), List.of()));
    }

    private void login(int i) {
        accounts[i] = ACCOUNTS.get(i);
        databases[i] = i % 3 == 0 ? "crm" : "shop";
        add(Kind.LOGIN, i, null, 0, List.of(), List.of());
    }

    private void step(int i) {
        int connection = i * 5 % CONNECTIONS;
        if (i % 60 == 57) {
            accounts[connection] = ACCOUNTS.get((connection + i) % ACCOUNTS.size());
            databases[connection] = "shop";
            add(Kind.CHANGE_OF_USER, connection, null, 0, List.of(), List.of());
        }
        if (i % 20 == 19) {
            databases[connection] = databases[connection].equals("shop") ? "crm" : "shop";
            String name = i % 40 == 19 ? databases[connection] : '`' + databases[connection] + '`';
            add(Kind.STATEMENT, connection, "USE " + name, 0, List.of(), List.of());
        } else {
            statement(i, connection);
        }
    }

    private void statement(int i, int connection) {
        String[] parts = TEXTS.get(i % TEXTS.size()).split("\\|", -1);
        String table = TABLES.get(i / TEXTS.size() % TABLES.size());
        int status = parts[0].contains("missing") ? MISSING_TABLE : 0;
        String text = parts[0].replaceAll("\\bT\\b|(?<=_)T\\b", table).replaceAll("\\bN\\b|(?<='u)N", "" + (100 + i));
        add(
                Kind.STATEMENT,
                connection,
                text,
                status,
                tables(parts[1], table, connection),
                tables(parts[2], table, connection));
    }

    private List<String> tables(String names, String table, int connection) {
        return Arrays.stream(names.split(" "))
                .filter(name -> !name.isEmpty())
                .map(name -> name.replaceAll("\\bT\\b|(?<=_)T\\b", table))
                .map(name -> name.contains(".") ? name : databases[connection] + '.' + name)
                .toList();
    }

    private void add(Kind kind, int connection, String text, int status, List<String> reads, List<String> writes) {
        operations.add(new DatabaseOperation(
                kind,
                now(),
                11 + connection,
                accounts[connection],
                databases[connection],
                text,
                status,
                reads,
                writes));
    }

    private Instant now() {
        return START.plusSeconds(operations.size());
    }
}
