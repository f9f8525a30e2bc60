package io.tailrace.detection.dataclass;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DataClassReaderTest {

    private final List<String> errors = new ArrayList<>();

    private DataClasses read(String yaml) {
        return DataClassReader.read("c.yaml", yaml, error -> errors.add(error.toString()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    a: 1 | c.yaml:1:1: the file has no a; it may have classes, routines, unresolved, views
                    classes: [] | c.yaml:1:10: classes is expected to be a map
                    'classes: {Pci: {patterns: [a.b]}}' | c.yaml:1:11: the name of a class is expected to be
                    'classes: {pci: {}}' | c.yaml:1:11: the class pci has no patterns
                    'classes: {pci: {patern: [a.b]}}' | c.yaml:1:17: a class has no patern; it may have
                    'classes: {pci: {patterns: [cards]}}' | c.yaml:1:28: expected database.table or database.table.column
                    'classes: {pci: {patterns: [a.b.c.d]}}' | c.yaml:1:28: expected database.table or
                    'classes: {pci: {patterns: [a..c]}}' | c.yaml:1:28: expected database.table or
                    'classes: {pci: {patterns: [[a.b]]}}' | c.yaml:1:28: patterns is expected to list texts
                    'classes: {pci: {patterns: [a.b]}, pci: {patterns: [a.b]}}' | c.yaml:1:35: the key pci is defined twice
                    'classes: {p: {patterns: [a.b], confirmed: [{on: x}]}}' | c.yaml:1:45: a confirmation has no on
                    'classes: {p: {patterns: [a.b], confirmed: [{by: x}]}}' | c.yaml:1:44: a confirmation has no patterns
                    'classes: {p: {patterns: [a.b], confirmed: [{by: x, since: May, patterns: a.b}]}}' | c.yaml:1:52: since is expected to be a day such as 2026-11-27, found May
                    'classes: {p: {patterns: [a.b], confirmed: [{by: "", since: 2026-05-01, patterns: a.b}]}}' | c.yaml:1:45: by is expected to name a person
                    'classes: {p: {patterns: [a.b], confirmed: [{by: x, since: 2026-05-01, patterns: a.c}]}}' | c.yaml:1:71: the class does not list the pattern a.c
                    '{classes: {p: {patterns: [a.b]}}, views: {a.*: [a.b]}}' | c.yaml:1:43: expected a name without
                    '{classes: {p: {patterns: [a.b]}}, views: {a.v: [a.*]}}' | c.yaml:1:49: expected a name without
                    '{classes: {p: {patterns: [a.b]}}, views: {a.v: [a.V]}}' | c.yaml:1:43: the view a.v reads itself
                    '{classes: {p: {patterns: [a.b]}}, views: {a.v: [a.w], a.w: [a.v]}}' | c.yaml:1:43: the view a.v
                    '{classes: {p: {patterns: [a.b]}}, routines: {a.f: {read: [a.b]}}}' | c.yaml:1:52: a routine has no read
                    '{classes: {p: {patterns: [a.b]}}, routines: {a.f: a.b}}' | c.yaml:1:51: a routine is expected
                    '{classes: {p: {patterns: [a.b]}}, unresolved: [a.b.c]}' | c.yaml:1:48: expected database.table
                    'classes: [' | c.yaml:1:11: invalid YAML
                    """)
    void reportsPositionAndReasonOfARejection(String yaml, String error) {
        assertThat(read(yaml)).isEqualTo(DataClasses.NONE);
        assertThat(errors).hasSize(1);
        assertThat(errors.get(0)).startsWith(error);
    }

    @Test
    void anEmptyFileHasNoClasses() {
        assertThat(read("").isEmpty()).isTrue();
        assertThat(read("# nothing\n").isEmpty()).isTrue();
        assertThat(errors).isEmpty();
    }

    @Test
    void aConfirmationDoesNotChangeTheClass() {
        String pattern = "classes: {p: {patterns: [a.b, a.c.d], exclude: [a.b.e]";
        DataClasses confirmed =
                read(pattern + ", confirmed: [{by: Ann, since: 2026-05-01, patterns: [a.c.d, a.b.e]}]}}");
        assertThat(errors).isEmpty();
        assertThat(confirmed.names()).isEqualTo(read(pattern + "}}").names()).containsExactly("p");
    }

    @Test
    void viewsThatReadEachOtherForLongAreRefused() {
        StringBuilder yaml = new StringBuilder("classes: {p: {patterns: [a.b]}}\nviews:\n");
        for (int i = 0; i < 5_000; i++) {
            yaml.append("  a.v").append(i).append(": [a.v").append(i + 1).append("]\n");
        }
        assertThat(read(yaml.toString()).isEmpty()).isTrue();
        assertThat(errors.get(0)).contains("deep");
    }

    @Test
    void theFileOfThePackIsRead() throws IOException {
        DataClasses classes = read(Files.readString(Path.of("../../rules/data-classes.yaml")));
        assertThat(errors).isEmpty();
        assertThat(classes.names()).containsExactly("pci", "pii", "secret");
    }
}
