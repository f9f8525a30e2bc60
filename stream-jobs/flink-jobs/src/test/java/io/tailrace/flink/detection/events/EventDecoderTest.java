package io.tailrace.flink.detection.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.detect.PlanSighting;
import io.tailrace.detection.action.ActionObservation;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.QueryEvent;
import io.tailrace.flink.detection.BusyServers;
import io.tailrace.flink.detection.Gaps;
import io.tailrace.flink.detection.Logins;
import io.tailrace.flink.kafka.SingleObjectEncoder;
import io.tailrace.servers.Repository;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificData;
import org.junit.jupiter.api.Test;

class EventDecoderTest {

    private static final Instant TIME = Instant.parse("2026-11-21T02:49:19.811511Z");

    private final EventDecoder reader = new EventDecoder();

    @Test
    void findsWhereAnEventBelongs() throws Exception {
        AuditEvent event = Logins.refused("db-1", "root", 7, TIME);
        EventRecord message = reader.place(new SingleObjectEncoder<>(AuditEvent.class).encode(event));
        assertThat(message.log()).isEqualTo("db-1\u001faudit\u001f/audit.log");
        assertThat(message.offset()).isEqualTo(700);
        assertThat(message.length()).isEqualTo(100);
        assertThat(message.instance()).isEqualTo("db-1");
        assertThat(message.micros()).isEqualTo(TIME.getEpochSecond() * 1_000_000 + 811_511);
        assertThat(reader.event(message.bytes()).values("user").get(0).text()).isEqualTo("root");
    }

    @Test
    void theHeaderHasTheSessionOfTheCompleteEvent() throws Exception {
        AuditEvent refused = Logins.refused("db-1", "Root", 7, TIME);
        AuditEvent connect = Logins.refused("db-1", "root", 7, TIME);
        connect.setStatus(0);
        connect.setCommand("CONNECT");
        AuditEvent row = Logins.statement("db-1", 7, TIME, "orders");
        row.setEventClass("table");
        row.setQueryId(null);
        AuditEvent unconnected = Logins.statement("db-1", 7, TIME, "orders");
        unconnected.setConnectionId(0);
        AuditEvent started = Logins.statement("db-1", 7, TIME, "orders");
        started.setEventClass("server");
        for (AuditEvent event :
                List.of(refused, connect, row, unconnected, started, Logins.statement("db-1", 7, TIME, "orders"))) {
            EventRecord message = reader.place(new SingleObjectEncoder<>(AuditEvent.class).encode(event));
            assertThat(message.session()).isEqualTo(session(message));
        }
        new BusyServers(1, 1_000, TIME).send(1, (server, record) -> {
            if (record instanceof QueryEvent query) {
                EventRecord message = reader.place(new SingleObjectEncoder<>(QueryEvent.class).encode(query));
                assertThat(message.session()).isEqualTo(session(message));
            }
        });
    }

    private String session(EventRecord message) throws Exception {
        return ActionObservation.of(reader.event(message.bytes()))
                .map(ActionObservation::session)
                .orElse(message.log());
    }

    @Test
    void readsEventsOfEveryReleasedSchema() throws Exception {
        for (int version = 1; version <= 3; version++) {
            Schema.Parser parser = new Schema.Parser();
            var released = Repository.root().resolve("schemas/history/v" + version);
            parser.parse(released.resolve("EventId.avsc").toFile());
            Schema schema = parser.parse(released.resolve("AuditEvent.avsc").toFile());
            EventRecord message = reader.place(written(schema));
            assertThat(message.offset()).isEqualTo(300);
            assertThat(reader.event(message.bytes()).values("status").get(0).number())
                    .isEqualTo(1045);
        }
    }

    @Test
    void postingsAreDistinguishedFromEvents() throws Exception {
        LedgerEntry gap = Gaps.lost("db-1", 4096, 5000, TIME);
        EventRecord message = reader.place(new SingleObjectEncoder<>(LedgerEntry.class).encode(gap));
        assertThat(message.posting()).isTrue();
        assertThat(message.log()).isEqualTo("db-1\u001faudit\u001f/audit.log");
        assertThat(message.offset()).isEqualTo(4096);
        assertThat(message.length()).isEqualTo(904);
        assertThat(reader.posting(message.bytes())).isEqualTo(gap);
        EventRecord event = reader.place(
                new SingleObjectEncoder<>(AuditEvent.class).encode(Logins.refused("db-1", "root", 7, TIME)));
        assertThat(event.posting()).isFalse();
        assertThatThrownBy(() -> reader.posting(event.bytes())).isInstanceOf(IOException.class);
    }

    @Test
    void aCopyWithAnExecutionKeepsTheOtherComponents() throws Exception {
        EventRecord event = new EventRecord("log", 1, 2, 3, "db-1", "session", 4, true, true, 5, null, new byte[] {6});
        PlanSighting execution = new PlanSighting("eu", "db-1", "shop", 5, "A", 4, 1, 2, 0.25, 9);
        assertThat(event.with(execution).execution()).isSameAs(execution);
        assertThat(event.with(execution))
                .usingRecursiveComparison()
                .ignoringFields("execution")
                .isEqualTo(event);
    }

    @Test
    void whatIsNoEventIsRefusedAndNeverThrowsAnythingElse() {
        byte[] good = new SingleObjectEncoder<>(AuditEvent.class).encode(Logins.refused("db-1", "root", 7, TIME));
        assertThatThrownBy(() -> reader.place(null)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> reader.place(new byte[] {1, 2, 3})).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> reader.place(new byte[20])).hasMessageContaining("single-object");
        Random random = new Random(1);
        int refused = 0;
        for (int i = 0; i < 2000; i++) {
            byte[] broken = good.clone();
            broken[random.nextInt(broken.length)] = (byte) random.nextInt();
            try {
                reader.place(broken);
            } catch (IOException expected) {
                refused++;
            }
        }
        assertThat(refused).isPositive();
    }

    /** Returns the event in the schema of an older release, with the fields of that schema. */
    private static byte[] written(Schema schema) throws Exception {
        AuditEvent event = Logins.refused("db-1", "root", 3, TIME);
        GenericData.Record record = new GenericData.Record(schema);
        for (Schema.Field field : schema.getFields()) {
            record.put(
                    field.pos(),
                    event.get(event.getSchema().getField(field.name()).pos()));
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(ByteBuffer.allocate(10)
                .putShort((short) 0xC301)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(SchemaNormalization.parsingFingerprint64(schema))
                .array());
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
        new GenericDatumWriter<GenericData.Record>(schema, SpecificData.getForClass(AuditEvent.class))
                .write(record, encoder);
        encoder.flush();
        return bytes.toByteArray();
    }
}
