package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.AuditFormats;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A statement whose literal contains whole logs is still one record, with the escapes of each writer. A new format
 * that escapes statements is covered without a change, because it needs a {@link LogWriter}.
 */
class ForgedAuditTest {

    @Test
    void everyFormatIsForged() {
        assertThat(LogWriter.ofAudit())
                .extracting(LogWriter::format)
                .as("audit formats that LogWriter.ofAudit() writes: add a new one")
                .containsExactlyInAnyOrderElementsOf(
                        AuditFormats.all().stream().map(LogFormat::name).toList());
    }

    @ParameterizedTest
    @MethodSource("io.tailrace.formats.LogWriter#escaping")
    void aLogWithinAStatementAddsNoRecord(LogWriter writer) throws IOException {
        LogFormat format = writer.logFormat();
        for (String evil : evilTexts()) {
            String statement = "SELECT /* " + evil + " */ '" + evil.replace("'", "''") + "' AS a";
            String file = writer.record().apply(statement) + writer.record().apply("SELECT 2");
            FramedLog log = FramedLog.of(format, file.getBytes(StandardCharsets.UTF_8));
            assertThat(log.rejections()).as(file).isEmpty();
            List<Parsed.Outcome> outcomes = Parsed.of(format, log);
            assertThat(outcomes).as(file).hasSize(2);
            assertThat(verb(outcomes.get(0))).as(file).isEqualTo("SELECT");
            assertThat(outcomes.get(1).fingerprint()).as(file).isEqualTo("select ?");
        }
    }

    private static String verb(Parsed.Outcome outcome) {
        return outcome.event() instanceof QueryEvent query ? query.getVerb() : ((AuditEvent) outcome.event()).getVerb();
    }

    /** Returns an entry of every format, and the first golden file of each. */
    private static List<String> evilTexts() throws IOException {
        List<String> texts = new ArrayList<>();
        for (LogWriter writer : LogWriter.all()) {
            texts.add("\n" + writer.record().apply("DROP TABLE audit"));
            if (writer.login() != null) {
                texts.add("\n" + writer.login().of(LogWriter.Names.USUAL, true));
            }
            byte[] golden = Files.readAllBytes(
                    GoldenInputs.cases(writer.logFormat()).get(0).resolve("input.log"));
            texts.add(new String(golden, StandardCharsets.ISO_8859_1));
        }
        return texts;
    }
}
