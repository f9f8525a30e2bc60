package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.AuditFormats;
import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.event.AuditEvent;
import io.tailrace.flink.clickhouse.InsertResult.Stored;
import io.tailrace.framing.LogFormat;
import io.tailrace.servers.ClickHouseServer;
import io.tailrace.servers.SharedClickHouse;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Processes every audit format from lines through reassembly, parsing and encoding into the real table. */
@Tag("slow")
class AuditEventsTest {

    private static final RowBinaryEncoder EVENTS =
            new RowBinaryEncoder("tailrace.audit_events", AuditEvent.getClassSchema());

    @RegisterExtension
    static final SharedClickHouse CLICKHOUSE = new SharedClickHouse();

    @Test
    void everyFormatReachesItsTable() throws Exception {
        Set<String> expected = new HashSet<>();
        ClickHouseServer server = CLICKHOUSE.server();
        ClickHouseHttpClient store = new ClickHouseHttpClient(new ClickHouseConnection(
                server.url(), "writer", server.passwordFile().toString()));
        for (LogFormat format : AuditFormats.all()) {
            GoldenEvents golden = GoldenEvents.of(format);
            assertThat(golden.queries()).isEmpty();
            List<AuditEvent> events = golden.audits();
            assertThat(store.insert(block(events))).isEqualTo(new Stored());
            expected.add(format.name() + '\t' + events.size());
        }
        String counts = server.query("SELECT format, count() FROM tailrace.audit_events GROUP BY 1");
        assertThat(counts.split("\n")).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(server.query("SELECT user, priv_user, proxy_user, os_user, ip, connection_type, program_name,"
                        + " connection_attributes['_pid'] FROM tailrace.audit_events"
                        + " WHERE format = 'mysql-enterprise-audit-json' AND event_class = 'connection'"))
                .isEqualTo("app\tapp_rw\tdev\tjeffrey\t::1\ttls\tmysqladmin\t43236");
        assertThat(server.query("SELECT tables_read, tables_written, command_class FROM tailrace.audit_events"
                        + " WHERE format = 'mcafee-audit-json' AND command_class = 'insert_select'"))
                .isEqualTo("['shop.t1']\t['shop.t2']\tinsert_select");
        assertThat(server.query("SELECT DISTINCT server_version FROM tailrace.audit_events"
                        + " WHERE format = 'percona-audit-csv' AND event_class = 'server'"))
                .isEqualTo("5.7.20-18-18-log");
    }

    /** Returns the events as rows of today, because the table deletes older ones. */
    private static PendingBlock block(List<AuditEvent> events) {
        RowBinaryBuffer rows = new RowBinaryBuffer(1 << 16);
        for (AuditEvent event : events) {
            event.setEventTime(Rows.TODAY);
            EVENTS.encode(event, 1, rows);
        }
        String layout = EVENTS.layout().text();
        BlockBuilder block = new BlockBuilder(layout);
        block.add(new RowBlock(layout, EVENTS.day(events.get(0)), events.size(), rows.toByteArray()));
        return block.seal();
    }
}
