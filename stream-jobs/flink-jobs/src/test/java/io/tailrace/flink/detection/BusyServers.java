package io.tailrace.flink.detection;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.EventId;
import io.tailrace.event.QueryEvent;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.avro.specific.SpecificRecord;

/**
 * Generates the events of eight busy servers, a thousand per second, the same for each seed. Four write MariaDB's audit
 * log, four a slow log of all statements. There are sixty classes of an application's statements, connections of about
 * forty statements, occasional refused logins, and the statements of the {@link #planted} rules, one in ten thousand.
 */
public final class BusyServers {

    static final String MARKER = "marker-";
    /** One in this number of statements matches a rule of the benchmark. */
    static final int PLANTED_EVERY = 10_000;

    private static final int SERVERS = 8;
    private static final int EVENTS_PER_SECOND = 1_000;
    private static final int CONNECTIONS = 25;
    private static final int STATEMENTS_OF_A_CONNECTION = 40;
    private static final int USERS = 12;
    private static final int ENTRY_BYTES = 240;

    /** Receives the events in the order of their times. */
    public interface Receiver {

        /** @param server from 0 to 7 */
        void event(int server, SpecificRecord record) throws Exception;
    }

    private static final List<String> TEMPLATES = List.of(
            "SELECT p.id, p.name, p.price FROM %s p WHERE p.id = 41",
            "SELECT o.id, o.total FROM %s o JOIN customers c ON c.id = o.customer_id WHERE c.email = 'a@b.c' LIMIT 20",
            "UPDATE %s SET stock = stock - 1, changed_at = NOW() WHERE id IN (1, 2, 3)",
            "INSERT INTO %s (order_id, product_id, quantity, price) VALUES (1, 2, 3, 4.5), (1, 3, 1, 9.9)",
            "SELECT COUNT(*) FROM %s WHERE created_at > '2026-11-01' AND status = 'open'",
            "DELETE FROM %s WHERE session_id = 'f00' AND expires_at < NOW()",
            "SELECT sum(i.price * i.quantity) AS total, o.id, o.state FROM %s o JOIN items i ON i.order_id = o.id"
                    + " WHERE o.created_at BETWEEN '2026-01-01' AND '2026-02-01' GROUP BY o.id ORDER BY total DESC LIMIT 10");
    private static final List<String> TABLES =
            List.of("orders", "items", "products", "carts", "sessions", "invoices", "addresses", "reviews", "stock");

    private final Random random;
    private final Fingerprinter fingerprinter = new Fingerprinter();
    private final List<NormalizedStatement> statements = new ArrayList<>();
    private final Map<String, NormalizedStatement> others = new HashMap<>();
    private final Map<Integer, Integer> planted = new TreeMap<>();
    private final long[][] connections = new long[SERVERS][CONNECTIONS];
    private final int[][] left = new int[SERVERS][CONNECTIONS];
    private final long[] offsets = new long[SERVERS];
    private final Instant start;
    private final int events;
    private long connection = 1_000;
    private long number;

    public BusyServers(long seed, int events, Instant start) {
        this.random = new Random(seed);
        this.events = events;
        this.start = start;
        for (String template : TEMPLATES) {
            for (String table : TABLES) {
                statements.add(shape(String.format(template, table)));
            }
        }
    }

    /** Returns the number of planted statements so far, by the number of the rule. */
    Map<Integer, Integer> planted() {
        return planted;
    }

    private NormalizedStatement shape(String statement) {
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        return fingerprinter.statement(bytes, 0, bytes.length);
    }

    /**
     * Generates all events. At the beginning, in the middle and at the end, each server has an event of a user {@code
     * marker-PHASE-SERVER}.
     *
     * @param rules rules of the benchmark, whose statements are planted
     */
    public void send(int rules, Receiver receiver) throws Exception {
        mark("begin", receiver);
        for (int i = 0; i < events; i++) {
            if (i == events / 2) {
                mark("middle", receiver);
            }
            next(i, rules, receiver);
        }
        mark("end", receiver);
    }

    private void mark(String phase, Receiver receiver) throws Exception {
        for (int server = 0; server < SERVERS; server++) {
            String user = MARKER + phase + '-' + server;
            receiver.event(server, statement(server, user, ++connection, statements.get(0), 1));
        }
    }

    private void next(int i, int rules, Receiver receiver) throws Exception {
        int server = random.nextInt(SERVERS);
        int slot = random.nextInt(CONNECTIONS);
        boolean audits = server % 2 == 0;
        String user = "app" + slot % USERS + '_' + server;
        if (left[server][slot] == 0) {
            connections[server][slot] = ++connection;
            left[server][slot] = 1 + random.nextInt(2 * STATEMENTS_OF_A_CONNECTION);
            if (audits) {
                receiver.event(server, login(server, user, connection));
                return;
            }
        }
        left[server][slot]--;
        NormalizedStatement shape = statements.get(random.nextInt(statements.size()));
        if (i % PLANTED_EVERY == PLANTED_EVERY - 1) {
            int rule = random.nextInt(rules);
            planted.merge(rule, 1, Integer::sum);
            shape = others.computeIfAbsent(RuleLoad.statement(rule), this::shape);
        }
        receiver.event(server, statement(server, user, connections[server][slot], shape, random.nextInt(200)));
    }

    private Instant time() {
        return start.plusNanos(number++ * 1_000_000_000L / EVENTS_PER_SECOND);
    }

    private SpecificRecord statement(int server, String user, long session, NormalizedStatement shape, int rows) {
        return server % 2 == 0 ? audited(server, user, session, shape) : slow(server, user, session, shape, rows);
    }

    private AuditEvent login(int server, String user, long session) {
        AuditEvent event = Logins.refused("db-" + server, user, number, time());
        event.setCommand("CONNECT");
        event.setStatus(0);
        return placed(event, server, session);
    }

    private AuditEvent audited(int server, String user, long session, NormalizedStatement shape) {
        AuditEvent event = Logins.statement("db-" + server, number, time(), "orders");
        event.setUser(user);
        event.setVerb(shape.verb());
        event.setQueryId(shape.queryId());
        event.setFingerprint(shape.fingerprint());
        event.setTablesRead(shape.tablesRead());
        event.setTablesWritten(shape.tablesWritten());
        event.setRuleSet(Fingerprinter.RULE_SET);
        event.setServerQueryId(number);
        return placed(event, server, session);
    }

    private AuditEvent placed(AuditEvent event, int server, long session) {
        event.setCluster("shop-" + server);
        event.setLog("/var/lib/mysql/server_audit.log");
        event.setHost("10." + server + ".0." + session % 20);
        event.setEntryOffset(offset(server));
        event.setEntryBytes(ENTRY_BYTES);
        event.setConnectionId(session);
        return event;
    }

    private long offset(int server) {
        long offset = offsets[server];
        offsets[server] += ENTRY_BYTES;
        return offset;
    }

    private QueryEvent slow(int server, String user, long session, NormalizedStatement shape, int rows) {
        Map<String, String> attributes = new LinkedHashMap<>();
        attributes.put("Thread_id", Long.toString(session));
        attributes.put("QC_hit", "No");
        attributes.put("Rows_affected", "0");
        return QueryEvent.newBuilder()
                .setEventId(new EventId(
                        ByteBuffer.allocate(16).putLong(server).putLong(number).array()))
                .setCluster("shop-" + server)
                .setInstance("db-" + server)
                .setSource("slowlog")
                .setLog("/var/log/mysql/slow.log")
                .setGeneration(1)
                .setEntryOffset(offset(server))
                .setEntryBytes(ENTRY_BYTES)
                .setFormat("mysql-slow")
                .setEventTime(time())
                .setConnectionId(session)
                .setUser(user)
                .setHost("")
                .setIp("10." + server + ".0." + session % 20)
                .setDatabase("shop")
                .setQueryId(shape.queryId())
                .setRuleSet(Fingerprinter.RULE_SET)
                .setVerb(shape.verb())
                .setQueryTime(0.0001 * rows)
                .setRowsSent(rows)
                .setRowsExamined(10L * rows)
                .setErrorCode(0)
                .setAttributes(attributes)
                .setPlanFlags(rows % 3 == 0 ? List.of("full_scan", "filesort") : List.of())
                .setTablesRead(shape.tablesRead())
                .setTablesWritten(shape.tablesWritten())
                .setFingerprint(shape.fingerprint())
                .build();
    }
}
