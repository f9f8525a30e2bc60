package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.AuditFormats;
import io.tailrace.framing.LogFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class FormatRegistryTest {

    private static final List<LogFormat> ALL = new FormatRegistry().all();

    @Test
    void onlyAuditFormatsHaveTheSourceAudit() {
        List<String> audit = AuditFormats.all().stream().map(LogFormat::name).toList();
        assertThat(ALL)
                .filteredOn(format -> FormatRegistry.sourceOf(format).equals("audit"))
                .extracting(LogFormat::name)
                .as("formats for which FormatRegistry.sourceOf returns audit: name the others there")
                .containsExactlyElementsOf(audit);
    }

    /** The manual and its tests, and `--format` on the command line, quote the names. */
    @Test
    void namesAreWordsWithHyphens() {
        assertThat(ALL)
                .extracting(LogFormat::name)
                .as("names of formats: lower-case letters, digits and hyphens, such as mysql-slow")
                .allMatch(name -> name.matches("[a-z][a-z0-9]*(-[a-z0-9]+)*"));
    }

    @Test
    void everyFormatHasItsOwnName() {
        assertThat(ALL).extracting(LogFormat::name).doesNotHaveDuplicates();
    }
}
