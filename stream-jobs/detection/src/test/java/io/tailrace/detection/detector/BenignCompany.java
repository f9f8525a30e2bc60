package io.tailrace.detection.detector;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.taxonomy.DatabaseEventMapper;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.EventId;
import io.tailrace.event.QueryEvent;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;

/**
 * Generates days of a company without malicious activity, with an average of a thousand events per second: a primary
 * and two replicas, 57 accounts. The slow log contains every statement of the applications (long_query_time 0). The
 * audit log contains all logins and the statements of people, jobs and tools (server_audit_excl_users names the
 * applications, as is common at such rates).
 *
 * <ul>
 * <li>twelve applications whose pods open thousands of connections an hour, with an ORM's statements; some fail
 * <li>releases, with migrations, new statements, a new table, and pods with new addresses
 * <li>jobs at night: ETL with staging tables, clean-up, reports, mariadb-dump, optimizing
 * <li>monitoring, health checks, replication, a BI tool that reads the catalogue
 * <li>four administrators, ten analysts, eighteen developers and support, who mistype passwords, names and SQL
 * </ul>
 *
 * It is derived from the practice of such companies, not from the rules. The same seed generates the same events.
 */
final class BenignCompany {

    static final int SECONDS = 86_400;
    private static final int MONITORED_SECONDS = 30;
    private static final int HEALTH_CHECK_SECONDS = 5;
    /** Network of the nightly jobs, whose statements change many rows. */
    private static final String JOBS = "10.20.60.";

    private static final int ROWS_OF_JOBS = 4_000;
    private static final Set<String> WRITES = Set.of("INSERT", "UPDATE", "DELETE", "REPLACE");
    /** On a day of learning, one session of monitoring or of a health check represents so many. */
    private static final int MONITORING_THINNED = 10;

    /** Events per second that are statements of applications; most others are their logins. */
    private static final double STATEMENTS_PER_SECOND = 860;

    private static final double LOGINS_PER_SECOND = 70;
    private static final String CLUSTER = "shop";
    private static final List<String> SERVERS = List.of("db1", "db2", "db3");
    private static final List<String> APPLICATIONS = List.of(
            "shop",
            "cart",
            "catalog",
            "search",
            "billing",
            "shipping",
            "crm",
            "mailer",
            "auth",
            "stock",
            "reviews",
            "mobile");
    private static final List<String> ENTITIES = List.of(
            "orders",
            "items",
            "products",
            "customers",
            "carts",
            "sessions",
            "invoices",
            "addresses",
            "payments",
            "shipments",
            "reviews",
            "vouchers",
            "stock",
            "categories",
            "settings",
            "events");
    private static final List<String> ADMINISTRATORS = List.of("anna", "ben", "chris", "dora");
    private static final int ANALYSTS = 10;
    private static final int DEVELOPERS = 18;

    /** Statements that an ORM sends for an entity. */
    private static final List<String> OF_ORM = List.of(
            "SELECT t0.id, t0.name, t0.state, t0.created_at FROM %s t0 WHERE t0.id = 17 LIMIT 1",
            "SELECT t0.* FROM %s t0 WHERE t0.customer_id IN (1, 2, 3, 4) ORDER BY t0.id DESC",
            "SELECT COUNT(*) AS aggregate FROM %s WHERE 1 = 1 AND state = 'open' AND deleted_at IS NULL",
            "UPDATE %s SET state = 'done', updated_at = NOW() WHERE id = 4 AND version = 7",
            "INSERT INTO %s (name, state, created_at, updated_at) VALUES ('a', 'b', NOW(), NOW())",
            "DELETE FROM %s WHERE id = 9",
            "SELECT t0.id, t1.name FROM %s t0 LEFT JOIN customers t1 ON t1.id = t0.customer_id"
                    + " WHERE t0.created_at >= '2026-01-01' AND (t0.state = 'a' OR t0.state = 'b') LIMIT 50 OFFSET 100",
            "SELECT id FROM %s WHERE state = 'open' AND locked_until < NOW() LIMIT 10 FOR UPDATE SKIP LOCKED",
            "INSERT INTO %s (id, counter) VALUES (1, 1) ON DUPLICATE KEY UPDATE counter = counter + 1");

    private static final List<String> OF_EVERY_SESSION = List.of(
            "SET NAMES utf8mb4",
            "SELECT 1",
            "START TRANSACTION",
            "COMMIT",
            "ROLLBACK",
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "SELECT @@version, @@sql_mode");
    private static final List<String> OF_ADMINISTRATORS = List.of(
            "SHOW FULL PROCESSLIST",
            "SHOW ENGINE INNODB STATUS",
            "SHOW GLOBAL VARIABLES LIKE 'innodb%'",
            "EXPLAIN SELECT * FROM shop.orders WHERE state = 'open'",
            "SHOW REPLICA STATUS",
            "ANALYZE TABLE shop.orders",
            "SELECT table_name, data_length FROM information_schema.tables WHERE table_schema = 'shop'"
                    + " ORDER BY data_length DESC LIMIT 20",
            "KILL 4711",
            "SHOW CREATE TABLE shop.orders",
            "SHOW INDEX FROM shop.items",
            "SELECT * FROM sys.schema_unused_indexes",
            "SELECT * FROM performance_schema.data_locks",
            "SHOW DATABASES");
    private static final List<String> OF_ANALYSTS = List.of(
            "SELECT DATE(created_at) AS d, COUNT(*), SUM(total) FROM %s GROUP BY d ORDER BY d",
            "SELECT c.country, AVG(o.total) FROM %s o JOIN customers c ON c.id = o.customer_id WHERE o.created_at >"
                    + " NOW() - INTERVAL 30 DAY GROUP BY c.country",
            "SELECT * FROM %s ORDER BY created_at DESC LIMIT 1000",
            "WITH m AS (SELECT customer_id, COUNT(*) n FROM %s GROUP BY customer_id) SELECT n, COUNT(*) FROM m GROUP BY n");

    record Statement(NormalizedStatement shape, String database, List<String> accounts) {}

    /** An activity at a second of the day. */
    private record Act(int second, Runnable work) {}

    private final Random random;
    /** A source of its own, so that these numbers do not change the other events. */
    private final Random rowsAffected = new Random(5);

    private final Fingerprinter fingerprinter = new Fingerprinter();
    private final Map<String, Statement> statements = new HashMap<>();
    private final List<List<Statement>> ofApplications = new ArrayList<>();
    private final List<Act> acts = new ArrayList<>();
    /** Activity that a test adds, by day. */
    private final Map<Integer, List<Act>> added = new HashMap<>();

    private final long startMicros;
    private final QueryEvent slow = new QueryEvent();
    private final AuditEvent audit = new AuditEvent();
    private final long[] offsets = new long[2 * SERVERS.size()];
    private Consumer<DetectionEvent> out;
    private long connection = 1_000;
    private long number;
    private long micros;
    private int rowsFactor = 1;

    BenignCompany(long seed, Instant start) {
        random = new Random(seed);
        startMicros = DetectorRun.micros(start);
        for (int i = 0; i < APPLICATIONS.size(); i++) {
            ofApplications.add(ofApplication(i));
        }
        fillOnce();
    }

    private List<Statement> ofApplication(int application) {
        List<Statement> own = new ArrayList<>();
        Random choice = new Random(application);
        for (int entity = 0; entity < 5; entity++) {
            String name = entity == 0 ? APPLICATIONS.get(application) + "_outbox" : any(ENTITIES, choice);
            for (String template : OF_ORM) {
                if (choice.nextInt(3) > 0) {
                    own.add(statement(String.format(template, name)));
                }
            }
        }
        OF_EVERY_SESSION.forEach(each -> own.add(statement(each)));
        return own;
    }

    private void fillOnce() {
        for (Map.Entry<String, Object> text : Map.<String, Object>of(
                        "cluster",
                        CLUSTER,
                        "source",
                        "slowlog",
                        "log",
                        "/var/log/mysql/slow.log",
                        "format",
                        "mysql-slow")
                .entrySet()) {
            slow.put(text.getKey(), text.getValue());
        }
        slow.setGeneration(1);
        slow.setEntryBytes(300);
        slow.setHost("");
        slow.setRuleSet(Fingerprinter.RULE_SET);
        slow.setAttributes(Map.of());
        slow.setFlags(List.of());
        slow.setPlanFlags(List.of());
        slow.setTags(Map.of());
        slow.setTraceId("");
        slow.setSpanId("");
        slow.setExplain("");
        audit.getSchema().getFields().forEach(field -> {
            if (field.schema().getType() == org.apache.avro.Schema.Type.STRING) {
                audit.put(field.pos(), "");
            }
        });
        audit.setCluster(CLUSTER);
        audit.setSource("audit");
        audit.setLog("/var/lib/mysql/server_audit.log");
        audit.setFormat("mariadb-audit");
        audit.setGeneration(1);
        audit.setEntryBytes(200);
        audit.setAttributes(Map.of());
        audit.setFlags(List.of());
        audit.setConnectionAttributes(Map.of());
        audit.setTags(Map.of());
    }

    /** Adds activity to a day that was not generated yet. */
    void add(int day, int second, Runnable work) {
        added.computeIfAbsent(day, each -> new ArrayList<>()).add(new Act(second, work));
    }

    Statement statement(String text) {
        return statements.computeIfAbsent(text, each -> {
            byte[] bytes = each.getBytes(StandardCharsets.UTF_8);
            NormalizedStatement shape = fingerprinter.statement(bytes, 0, bytes.length);
            return new Statement(shape, "shop", fingerprinter.accounts(shape, bytes, 0, bytes.length, ""));
        });
    }

    private static <T> T any(List<T> of, Random random) {
        return of.get(random.nextInt(of.size()));
    }

    private <T> T any(List<T> of) {
        return any(of, random);
    }

    /**
     * Generates a day, ordered by time.
     *
     * @param day counted from 0, a Monday
     * @param thinned number of statements and logins of applications that one event represents, by hour of the day
     * @param rowsOfAll a statement has the rows of all statements that it represents: the total of an hour is the same
     *     as without thinning, the rows of a single statement are not. Monitoring is thinned, too
     */
    void day(int day, IntUnaryOperator thinned, boolean rowsOfAll, Consumer<DetectionEvent> events) {
        day(day, thinned, rowsOfAll, rowsOfAll ? MONITORING_THINNED : 1, events);
    }

    /** @param monitoring number of sessions of monitoring and health checks that one represents */
    void day(int day, IntUnaryOperator thinned, boolean rowsOfAll, int monitoring, Consumer<DetectionEvent> events) {
        out = events;
        acts.clear();
        plan(day, monitoring);
        acts.addAll(added.getOrDefault(day, List.of()));
        acts.sort(Comparator.comparingInt(Act::second));
        int next = 0;
        for (int second = 0; second < SECONDS; second++) {
            micros = startMicros + (day * (long) SECONDS + second) * 1_000_000;
            for (; next < acts.size() && acts.get(next).second <= second; next++) {
                acts.get(next).work.run();
            }
            micros = startMicros + (day * (long) SECONDS + second) * 1_000_000 + 1;
            applications(day, second, thinned.applyAsInt(second / 3600), rowsOfAll);
        }
    }

    /** Returns the relative load: high by day, low at night and at weekends; the average of a day is one. */
    private static double load(int day, int second) {
        double hour = second / 3600.0;
        double daily = 1 - 0.75 * Math.cos(2 * Math.PI * (hour - 3) / 24);
        return daily * (day % 7 >= 5 ? 0.8 : 1.08);
    }

    private void applications(int day, int second, int thinned, boolean rowsOfAll) {
        double load = load(day, second);
        int count = times(STATEMENTS_PER_SECOND * load / thinned);
        for (int i = 0; i < count; i++) {
            int application = (int) (APPLICATIONS.size() * Math.pow(random.nextDouble(), 2));
            List<Statement> own = ofApplications.get(application);
            Statement statement = own.get((int) (own.size() * Math.pow(random.nextDouble(), 1.5)));
            boolean reads = "SELECT".equals(statement.shape.verb());
            long rows = reads ? (rowsOfAll ? thinned : 1) * (long) Math.exp(2 * random.nextDouble()) : 0;
            String server = reads ? any(SERVERS) : SERVERS.get(0);
            slow(server, APPLICATIONS.get(application), pod(application, day), statement, rows, failure());
        }
        int logins = times(LOGINS_PER_SECOND * load / thinned);
        for (int i = 0; i < logins; i++) {
            int application = random.nextInt(APPLICATIONS.size());
            String server = any(SERVERS);
            login(server, APPLICATIONS.get(application), pod(application, day), 0);
            audited(server, "DISCONNECT", "connection", APPLICATIONS.get(application), pod(application, day), null, 0);
        }
    }

    private int times(double expected) {
        int whole = (int) expected;
        return whole + (random.nextDouble() < expected - whole ? 1 : 0);
    }

    /** Returns an error: duplicate keys, deadlocks, lock wait timeouts; one in 2,000 statements. */
    private int failure() {
        return random.nextInt(2_000) > 0 ? 0 : any(List.of(1062, 1062, 1062, 1213, 1205));
    }

    /** The scheduler gives pods new addresses in the application's network with each release. */
    private String pod(int application, int day) {
        return "10.20." + application + '.' + (day / 3 * 7 % 200 + random.nextInt(12));
    }

    private void plan(int day, int monitoringThinned) {
        boolean workday = day % 7 < 5;
        monitoring(monitoringThinned);
        replication();
        night(day);
        if (workday) {
            people(day);
        }
        if (workday && day % 3 == 0) {
            release(day);
        }
        if (random.nextInt(7) == 0) {
            at(22 * 3600 + random.nextInt(3600), () -> onCall(any(ADMINISTRATORS)));
        }
    }

    private void at(int second, Runnable work) {
        acts.add(new Act(Math.min(second, SECONDS - 1), work));
    }

    private void monitoring(int thinned) {
        for (int second = 7; second < SECONDS; second += MONITORED_SECONDS * thinned) {
            for (int server = 0; server < SERVERS.size(); server++) {
                String name = SERVERS.get(server);
                at(second, () -> monitored(name, thinned));
            }
        }
        for (int second = 0; second < SECONDS; second += HEALTH_CHECK_SECONDS * thinned) {
            at(second, () -> session(any(SERVERS), "haproxy_check", "10.20.50.9", List.of()));
        }
        for (int hour = 0; hour < 24; hour++) {
            at(
                    hour * 3600 + 300,
                    () -> session(
                            "db2",
                            "bi",
                            "10.20.51.4",
                            List.of(
                                    "SELECT table_name, column_name, data_type FROM information_schema.columns"
                                            + " WHERE table_schema = 'shop'",
                                    "SHOW TABLES FROM shop",
                                    String.format(any(OF_ANALYSTS), any(ENTITIES)))));
        }
    }

    private void monitored(String server, int thinned) {
        rowsFactor = thinned;
        session(
                server,
                "monitor",
                "10.20.50.1",
                List.of(
                        "SHOW GLOBAL STATUS",
                        "SHOW GLOBAL VARIABLES",
                        "SHOW REPLICA STATUS",
                        "SELECT schema_name, digest, count_star FROM"
                                + " performance_schema.events_statements_summary_by_digest LIMIT 250",
                        "SELECT table_schema, SUM(data_length) FROM information_schema.tables GROUP BY 1"));
        rowsFactor = 1;
    }

    private void replication() {
        for (int hour = 0; hour < 24; hour += 6) {
            at(hour * 3600 + random.nextInt(600), () -> {
                login("db1", "replica", "10.20.0.2", 0);
                login("db1", "replica", "10.20.0.3", 0);
            });
        }
    }

    private void night(int day) {
        at(1 * 3600 + random.nextInt(300), this::dump);
        at(2 * 3600 + random.nextInt(300), this::warehouse);
        at(3 * 3600 + random.nextInt(300), this::cleanup);
        at(4 * 3600 + random.nextInt(300), this::report);
        at(5 * 3600, this::invoicing);
        at(6 * 3600, this::newsletter);
        at(6 * 3600 + 1800, this::feed);
        if (day % 7 == 6) {
            at(4 * 3600 + 1800, this::maintenance);
        }
    }

    private void warehouse() {
        session(
                "db1",
                "etl",
                "10.20.60.1",
                List.of(
                        "TRUNCATE TABLE dwh.staging_orders",
                        "INSERT INTO dwh.staging_orders SELECT * FROM shop.orders WHERE updated_at > '2026-01-01'",
                        "DELETE FROM dwh.facts WHERE day = '2026-01-01'",
                        "INSERT INTO dwh.facts SELECT day, SUM(total) FROM dwh.staging_orders GROUP BY day",
                        "LOAD DATA LOCAL INFILE 'rates.csv' INTO TABLE dwh.rates FIELDS TERMINATED BY ','",
                        "CREATE TEMPORARY TABLE t_new LIKE dwh.facts",
                        "DROP TEMPORARY TABLE t_new",
                        "DROP TABLE IF EXISTS dwh.facts_old",
                        "RENAME TABLE dwh.facts_new TO dwh.facts_current, dwh.facts_current TO dwh.facts_old"));
    }

    private void cleanup() {
        session(
                "db1",
                "cleanup",
                "10.20.60.2",
                List.of(
                        "DELETE FROM sessions WHERE expires_at < NOW() LIMIT 10000",
                        "DELETE FROM events WHERE created_at < NOW() - INTERVAL 90 DAY LIMIT 10000",
                        "UPDATE carts SET state = 'abandoned' WHERE updated_at < NOW() - INTERVAL 7 DAY",
                        "OPTIMIZE TABLE sessions",
                        "ALTER TABLE events DROP PARTITION p20260101",
                        "ALTER TABLE events ADD PARTITION (PARTITION p20260201 VALUES LESS THAN (20260201))"));
    }

    private void report() {
        slow(
                "db2",
                "report",
                "10.20.60.5",
                statement("SELECT * FROM orders o JOIN items i ON i.order_id = o.id WHERE o.created_at > '2026-01-01'"),
                400_000 + random.nextInt(80_000),
                0);
    }

    private void invoicing() {
        session(
                "db1",
                "invoicing",
                "10.20.60.3",
                List.of(
                        "CALL billing.close_day('2026-01-01')",
                        "SELECT id, total FROM invoices WHERE state = 'new'",
                        "UPDATE invoices SET state = 'sent' WHERE id IN (1, 2, 3)"));
    }

    private void newsletter() {
        session(
                "db2",
                "newsletter",
                "10.20.60.4",
                List.of(
                        "SELECT email, name FROM customers WHERE newsletter = 1 LIMIT 5000",
                        "INSERT INTO mails (recipient, subject) VALUES ('a@b.c', 'd')"));
    }

    private void feed() {
        session(
                "db2",
                "feed",
                "10.20.60.6",
                List.of("SELECT p.id, p.name, p.price FROM products p WHERE p.active = 1"));
    }

    private void maintenance() {
        session(
                "db1",
                "anna_jobs",
                "10.20.60.7",
                List.of(
                        "ANALYZE TABLE orders",
                        "CHECK TABLE orders",
                        "OPTIMIZE TABLE items",
                        "FLUSH BINARY LOGS",
                        "PURGE BINARY LOGS BEFORE NOW() - INTERVAL 14 DAY"));
    }

    private void dump() {
        List<String> texts = new ArrayList<>(List.of(
                "/*!40100 SET @@SQL_MODE='' */",
                "/*!40103 SET TIME_ZONE='+00:00' */",
                "FLUSH /*!40101 LOCAL */ TABLES",
                "FLUSH TABLES WITH READ LOCK",
                "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                "START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */",
                "SHOW MASTER STATUS",
                "UNLOCK TABLES",
                "SHOW DATABASES",
                "SHOW CREATE DATABASE IF NOT EXISTS `shop`",
                "show tables"));
        for (String entity : ENTITIES) {
            texts.addAll(List.of(
                    "show create table `" + entity + '`',
                    "SHOW FIELDS FROM `" + entity + '`',
                    "SELECT /*!40001 SQL_NO_CACHE */ `id`, `name` FROM `" + entity + '`',
                    "SHOW TRIGGERS LIKE '" + entity + '\''));
        }
        session("db3", "backup", "10.20.61.1", texts);
    }

    /** Generates a migration by the pipeline, and some minutes later pods with new statements. */
    private void release(int day) {
        int second = 10 * 3600 + random.nextInt(4 * 3600);
        int application = day / 3 % APPLICATIONS.size();
        String name = APPLICATIONS.get(application);
        String table = name + "_" + any(List.of("flags", "notes", "audits", "tokens", "labels")) + day;
        at(
                second,
                () -> session(
                        "db1",
                        "deploy",
                        "10.20.70.1",
                        List.of(
                                "SELECT version FROM schema_migrations ORDER BY version",
                                "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'schema_migrations'",
                                "SELECT GET_LOCK('migrations', 0)",
                                "CREATE TABLE " + table
                                        + " (id BIGINT PRIMARY KEY, name VARCHAR(100), state VARCHAR(20))",
                                "ALTER TABLE " + any(ENTITIES) + " ADD COLUMN note_" + day + " VARCHAR(50) NULL",
                                "CREATE INDEX idx_" + day + " ON " + any(ENTITIES) + " (state)",
                                "UPDATE " + table + " SET state = 'new'",
                                "INSERT INTO schema_migrations (version) VALUES ('1')",
                                "SELECT RELEASE_LOCK('migrations')")));
        at(second + 400, () -> {
            List<Statement> own = ofApplications.get(application);
            own.add(statement(String.format(any(OF_ORM), table)));
            own.add(statement(String.format(any(OF_ORM), any(ENTITIES))));
            own.add(statement("SELECT a.id, b.id FROM " + any(ENTITIES) + " a JOIN " + table + " b ON b.id = a.id"));
        });
    }

    private void people(int day) {
        administrators();
        analysts();
        developers();
        changesOfAccounts(day);
    }

    private void administrators() {
        for (int i = 0; i < ADMINISTRATORS.size(); i++) {
            String user = ADMINISTRATORS.get(i);
            String host = "10.30.1." + (10 + i);
            for (int times = 3 + random.nextInt(6); times > 0; times--) {
                at(working(i), () -> person(any(SERVERS), user, host, some(OF_ADMINISTRATORS, 8)));
            }
        }
    }

    private void analysts() {
        for (int i = 0; i < ANALYSTS; i++) {
            String user = "analyst" + i;
            String host = "10.30.2." + (10 + i);
            int favourite = i;
            for (int times = 2 + random.nextInt(6); times > 0; times--) {
                at(working(i), () -> {
                    List<String> texts = new ArrayList<>(List.of("SHOW TABLES"));
                    for (int queries = 1 + random.nextInt(10); queries > 0; queries--) {
                        int entity = (favourite + (int) Math.abs(random.nextGaussian() * 2)) % ENTITIES.size();
                        texts.add(String.format(any(OF_ANALYSTS), ENTITIES.get(entity)));
                    }
                    person("db2", user, host, texts);
                });
            }
        }
    }

    private void developers() {
        for (int i = 0; i < DEVELOPERS; i++) {
            String user = i < 14 ? "dev" + i : "support" + i;
            String host = "10.30." + (random.nextInt(40) == 0 ? 9 : 3) + '.' + (10 + i);
            int favourite = 2 * i;
            for (int times = random.nextInt(5); times > 0; times--) {
                at(working(i), () -> {
                    List<String> texts = new ArrayList<>();
                    for (int queries = 1 + random.nextInt(6); queries > 0; queries--) {
                        int entity = (favourite + random.nextInt(4)) % ENTITIES.size();
                        texts.add(String.format(any(OF_ORM.subList(0, 3)), ENTITIES.get(entity)));
                    }
                    person("db3", user, host, texts);
                });
            }
        }
    }

    private void changesOfAccounts(int day) {
        if (day % 10 == 4) {
            at(
                    working(0),
                    () -> person(
                            "db1",
                            "anna",
                            "10.30.1.10",
                            List.of(
                                    "CREATE USER 'trainee" + day + "'@'10.30.3.%' IDENTIFIED BY 'x'",
                                    "GRANT SELECT ON shop.* TO 'trainee" + day + "'@'10.30.3.%'",
                                    "FLUSH PRIVILEGES")));
        }
        if (day % 5 == 2) {
            at(
                    working(1),
                    () -> person(
                            "db1",
                            "ben",
                            "10.30.1.11",
                            List.of("SET GLOBAL max_connections = 800", "ALTER USER 'dev3'@'%' IDENTIFIED BY 'x'")));
        }
    }

    /** Returns the working hours of the person, in seconds of the day. */
    private int working(int person) {
        return (7 + person % 3) * 3600 + (int) (8.5 * 3600 * random.nextDouble());
    }

    private List<String> some(List<String> of, int limit) {
        List<String> chosen = new ArrayList<>();
        for (int count = 1 + random.nextInt(limit); count > 0; count--) {
            chosen.add(any(of));
        }
        return chosen;
    }

    private void onCall(String user) {
        person(
                "db1",
                user,
                "10.30.1." + (10 + ADMINISTRATORS.indexOf(user)),
                List.of("SHOW FULL PROCESSLIST", "SHOW ENGINE INNODB STATUS", "KILL 99", "SHOW REPLICA STATUS"));
    }

    /** Generates human mistakes: one login in 15 is refused first, one statement in 25 fails. */
    private void person(String server, String user, String host, List<String> texts) {
        for (int typos = random.nextInt(15) == 0 ? 1 + random.nextInt(3) : 0; typos > 0; typos--) {
            login(server, user, host, 1045);
            micros += 4_000_000 + random.nextInt(5_000_000);
        }
        session(server, user, host, texts);
    }

    private void session(String server, String user, String host, List<String> texts) {
        login(server, user, host, 0);
        for (String text : texts) {
            micros += 1_000 + random.nextInt(50_000);
            boolean person = host.startsWith("10.30.");
            int status = person && random.nextInt(25) == 0 ? any(List.of(1064, 1054, 1146, 1142)) : 0;
            Statement statement = statement(text);
            audited(server, "QUERY", "query", user, host, statement, status);
            int rows = "SELECT".equals(statement.shape.verb()) ? (int) (50 * Math.exp(random.nextGaussian() * 1.5)) : 0;
            slow(server, user, host, statement, rowsFactor * (long) rows, status);
        }
        audited(server, "DISCONNECT", "connection", user, host, null, 0);
    }

    void login(String server, String user, String host, int status) {
        connection++;
        audited(server, status == 0 ? "CONNECT" : "FAILED_CONNECT", "connection", user, host, null, status);
    }

    void audited(
            String server, String command, String eventClass, String user, String host, Statement done, int status) {
        audit.setEventId(id());
        audit.setEventTime(Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1_000));
        audit.setInstance(server);
        audit.setCommand(command);
        audit.setEventClass(eventClass);
        audit.setUser(user);
        audit.setHost(host);
        audit.setStatus(status);
        audit.setConnectionId(connection);
        audit.setServerQueryId(done == null ? 0 : number);
        audit.setEntryOffset(offsets[SERVERS.indexOf(server)] += 200);
        audit.setDatabase(done == null ? "" : done.database);
        audit.setVerb(done == null ? "" : done.shape.verb());
        audit.setQueryId(done == null ? null : done.shape.queryId());
        audit.setFingerprint(done == null ? "" : done.shape.fingerprint());
        audit.setTablesRead(done == null ? List.of() : done.shape.tablesRead());
        audit.setTablesWritten(done == null ? List.of() : done.shape.tablesWritten());
        audit.setTablesBasis(done == null ? "" : "statement");
        audit.setAccounts(done == null ? List.of() : done.accounts);
        out.accept(DatabaseEventMapper.of(audit, audit.getFingerprint()));
    }

    /** Generates an event of the audit log with the beginning of a statement only. */
    void cut(String server, String user, String host, Statement beginning) {
        audit.setFlags(List.of("truncated"));
        audited(server, "QUERY", "query", user, host, beginning, 0);
        audit.setFlags(List.of());
    }

    private void slow(String server, String user, String host, Statement done, long rows, int status) {
        slow(server, user, host, done, rows, affected(host, done), status);
    }

    /** Returns the rows that a statement of an application, a person or a job changed. */
    private long affected(String host, Statement done) {
        boolean writes = WRITES.contains(done.shape.verb());
        int usual = host.startsWith(JOBS) ? ROWS_OF_JOBS : 1;
        return writes ? (long) (usual * Math.exp(rowsAffected.nextGaussian() * 0.4)) : 0;
    }

    void slow(String server, String user, String host, Statement done, long rows, long affected, int status) {
        slow.setEventId(id());
        slow.setEventTime(Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1_000));
        slow.setInstance(server);
        slow.setUser(user);
        slow.setIp(host);
        slow.setConnectionId(connection);
        slow.setEntryOffset(offsets[SERVERS.size() + SERVERS.indexOf(server)] += 300);
        slow.setDatabase(done.database);
        slow.setVerb(done.shape.verb());
        slow.setQueryId(done.shape.queryId());
        slow.setFingerprint(done.shape.fingerprint());
        slow.setTablesRead(done.shape.tablesRead());
        slow.setTablesWritten(done.shape.tablesWritten());
        slow.setAccounts(done.accounts);
        slow.setQueryTime(0.0005 + rows * 1e-6);
        slow.setRowsSent(rows);
        slow.setRowsExamined(rows * 2 + affected);
        slow.setRowsAffected(affected);
        slow.setErrorCode(status);
        out.accept(DatabaseEventMapper.of(slow, slow.getFingerprint()));
    }

    private EventId id() {
        return new EventId(
                ByteBuffer.allocate(16).putLong(0x5eed).putLong(++number).array());
    }
}
