package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.audit.record.AuditEventBuilder;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.EventId;
import io.tailrace.flink.runtime.ConfigurationException;
import io.tailrace.pseudonym.Pseudonyms;
import io.tailrace.pseudonym.SubjectKind;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Encodes real events with and without the keys of pseudonyms. */
class SubjectNamesTest {

    private static final String TABLE = "tailrace.audit_events";
    private static final List<String> NAMES =
            List.of("Annika-Lind", "Bobby-Holm", "Proxy-account-1", "annika.lind.os", "10.20.30.40", "web-server-1");

    @TempDir
    Path directory;

    private PseudonymKeys keys;

    @BeforeEach
    void writeKeys() throws Exception {
        keys = NewPseudonymKeys.in(directory);
    }

    @Test
    void rowsOfACoveredTableContainNoNameOfItsColumns() throws Exception {
        List<RowBlock> blocks = blocks(Optional.of(keys), event("Annika-Lind"), event("Annika-Lind"));
        String rows = text(blocks.get(1));
        assertThat(NAMES).noneMatch(rows::contains);
        Pseudonyms pseudonyms = new Pseudonyms(NewPseudonymKeys.KEY);
        assertThat(rows)
                .contains(
                        pseudonyms.of(SubjectKind.USER, "Annika-Lind"),
                        pseudonyms.of(SubjectKind.CLIENT, "10.20.30.40"));
        assertThat(rows).contains("localhost-is-no-client.example");
    }

    @Test
    void eachNameGoesToTheVaultOnceBeforeItsRows() throws Exception {
        List<RowBlock> blocks =
                blocks(Optional.of(keys), event("Annika-Lind"), event("Annika-Lind"), event("Eve-Strand"));
        assertThat(blocks)
                .extracting(block -> RowLayout.parse(block.layout()).table())
                .containsExactly("tailrace.subject_arrivals", TABLE);
        RowBinaryReader arrivals = new RowBinaryReader(
                RowLayout.parse(blocks.get(0).layout()), blocks.get(0).bytes());
        List<String> arrived = new ArrayList<>();
        while (arrivals.next()) {
            arrived.add(arrivals.text("pseudonym"));
        }
        Pseudonyms pseudonyms = new Pseudonyms(NewPseudonymKeys.KEY);
        assertThat(arrived)
                .hasSize(NAMES.size() + 1)
                .doesNotHaveDuplicates()
                .contains(pseudonyms.of(SubjectKind.USER, "Eve-Strand"));
        assertThat(NAMES).noneMatch(text(blocks.get(0))::contains);
    }

    @Test
    void withoutKeysRowsAreAsTheEncoderWritesThem() throws Exception {
        RowBinaryEncoder plain = new RowBinaryEncoder(TABLE, AuditEvent.getClassSchema());
        RowBinaryBuffer expected = new RowBinaryBuffer(1024);
        plain.encode(event("Annika-Lind"), 0, expected);
        List<RowBlock> blocks = blocks(Optional.empty(), event("Annika-Lind"));
        assertThat(blocks).hasSize(1);
        assertThat(blocks.get(0).bytes()).isEqualTo(expected.toByteArray());
        assertThat(blocks.get(0).layout()).isEqualTo(plain.layout().text());
    }

    @Test
    void otherTablesKeepTheirNames() {
        assertThat(SubjectNames.of("tailrace.error_events", Optional.of(keys), Clock.systemUTC()))
                .isEmpty();
    }

    @Test
    void refusesFilesWithoutAKey() throws Exception {
        String other = Files.writeString(directory.resolve("other"), "abcd").toString();
        assertThat(PseudonymKeys.of("", "")).isEmpty();
        assertThat(PseudonymKeys.of(keys.pseudonyms(), keys.vault())).contains(keys);
        assertRefused("", keys.vault(), "needed together");
        assertRefused(other, keys.vault(), other + ": the key of pseudonyms must have at least 32 bytes");
        assertRefused(keys.pseudonyms(), other, other + ": expected a public RSA key");
        assertRefused(directory.resolve("none").toString(), keys.vault(), "cannot read the key");
    }

    private static void assertRefused(String pseudonyms, String vault, String reason) {
        assertThatThrownBy(() -> PseudonymKeys.of(pseudonyms, vault))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(reason);
    }

    private static List<RowBlock> blocks(Optional<PseudonymKeys> keys, AuditEvent... events) throws Exception {
        try (var operator = new OneInputStreamOperatorTestHarness<>(
                new RowBlockOperator<>(TABLE, AuditEvent.class, keys), 1, 1, 0)) {
            operator.open();
            for (AuditEvent event : events) {
                operator.processElement(event, 0);
            }
            operator.prepareSnapshotPreBarrier(1);
            return operator.extractOutputValues();
        }
    }

    private static AuditEvent event(String user) {
        AuditEvent event = new AuditEventBuilder().blank();
        event.setEventId(new EventId(new byte[16]));
        event.setCluster("shop");
        event.setInstance("db-1");
        event.setSource("audit");
        event.setLog("/log/audit.log");
        event.setFormat("mariadb-audit");
        event.setEventTime(Rows.TODAY);
        event.setUser(user);
        event.setPrivUser("Bobby-Holm");
        event.setProxyUser("Proxy-account-1");
        event.setOsUser("annika.lind.os");
        event.setHost("web-server-1");
        event.setIp("10.20.30.40");
        event.setObject("localhost-is-no-client.example");
        return event;
    }

    private static String text(RowBlock block) {
        return new String(block.bytes(), StandardCharsets.UTF_8);
    }
}
