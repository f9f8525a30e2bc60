package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DetectorTypeTest {

    private static final Path MANUAL = Path.of("../../docs/DETECTORS.md");

    @ParameterizedTest
    @EnumSource(DetectorType.class)
    void theManualListsItsKeyTitleAndLevel(DetectorType type) throws IOException {
        String title = type.header(type.level(), "", 0).title();
        String level = type.level().name().toLowerCase(Locale.ROOT);
        assertThat(Files.readAllLines(MANUAL))
                .filteredOn(line -> line.startsWith("| `" + type.fileKey() + "` |"))
                .as("row of " + type.fileKey() + " in the table of docs/DETECTORS.md")
                .singleElement()
                .asString()
                .startsWith("| `%s` | %s | %s |".formatted(type.fileKey(), title, level));
    }
}
