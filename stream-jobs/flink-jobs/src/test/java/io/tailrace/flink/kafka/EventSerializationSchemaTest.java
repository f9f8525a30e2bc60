package io.tailrace.flink.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.EventId;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

class EventSerializationSchemaTest {

    @Test
    void readersOfTheGeneratedClassUnderstandTheValueAndTheKeyNamesTheLog() throws Exception {
        AuditEvent event = event();
        ProducerRecord<byte[], byte[]> message =
                new EventSerializationSchema<>("tailrace.events", AuditEvent.class).serialize(event, null, null);
        assertThat(message.topic()).isEqualTo("tailrace.events");
        assertThat(new String(message.key(), StandardCharsets.UTF_8)).isEqualTo("db-1\u001faudit\u001f/audit.log");
        assertThat(message.value()).startsWith(0xC3, 0x01);
        assertThat(AuditEvent.getDecoder().decode(message.value())).isEqualTo(event);
    }

    private static AuditEvent event() {
        return AuditEvent.newBuilder()
                .setEventId(new EventId(new byte[16]))
                .setCluster("c")
                .setInstance("db-1")
                .setSource("audit")
                .setLog("/audit.log")
                .setGeneration(1)
                .setEntryOffset(0)
                .setEntryBytes(0)
                .setFormat("mariadb-audit")
                .setEventTime(Instant.parse("2026-01-02T03:04:05.000006Z"))
                .setEventClass("connection")
                .setCommand("CONNECT")
                .setUser("Zoë")
                .setAttributes(Map.of("a", "b"))
                .setFlags(List.of("truncated"))
                .setTablesRead(List.of("shop.orders"))
                .build();
    }
}
