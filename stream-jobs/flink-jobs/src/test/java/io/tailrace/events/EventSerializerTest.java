package io.tailrace.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.EventId;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

class EventSerializerTest {

    @Test
    void readersOfTheGeneratedClassUnderstandTheValueAndTheKeyNamesTheLog() throws Exception {
        AuditEvent event = event();
        ProducerRecord<byte[], byte[]> message =
                new EventSerializer<>("tailrace.events", AuditEvent.class).serialize(event, null, null);
        assertThat(message.topic()).isEqualTo("tailrace.events");
        assertThat(new String(message.key(), StandardCharsets.UTF_8)).isEqualTo("db-1\u001faudit\u001f/audit.log");
        assertThat(message.value()).startsWith(0xC3, 0x01);
        assertThat(AuditEvent.getDecoder().decode(message.value())).isEqualTo(event);
    }

    private static AuditEvent event() {
        AuditEvent event = new AuditEvent();
        event.setEventId(new EventId(new byte[16]));
        event.setCluster("c");
        event.setInstance("db-1");
        event.setSource("audit");
        event.setLog("/audit.log");
        event.setGeneration(1);
        event.setFormat("mariadb-audit");
        event.setEventTime(Instant.parse("2026-01-02T03:04:05.000006Z"));
        event.setEventClass("connection");
        event.setCommand("CONNECT");
        event.setCommandClass("");
        event.setUser("Zoë");
        event.setPrivUser("");
        event.setProxyUser("");
        event.setOsUser("");
        event.setHost("");
        event.setIp("");
        event.setDatabase("");
        event.setObject("");
        event.setRuleSet("");
        event.setVerb("");
        event.setAttributes(Map.of("a", "b"));
        event.setFlags(List.of("truncated"));
        return event;
    }
}
