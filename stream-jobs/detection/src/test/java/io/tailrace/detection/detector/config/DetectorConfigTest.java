package io.tailrace.detection.detector.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.detector.DetectorRun;
import io.tailrace.detection.detector.DetectorType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DetectorConfigTest {

    @Test
    void theFileOfThePackIsTaken() throws IOException {
        DetectorConfig file = DetectorRun.file(Files.readString(Path.of("../../rules/detectors.yaml")));

        assertThat(file.errors()).isEmpty();
        assertThat(file.detectors())
                .hasSize(DetectorType.values().length - 2)
                .extracting(detector -> detector.header().id())
                .doesNotHaveDuplicates();
        assertThat(file.detectors()).allSatisfy(detector -> {
            assertThat(detector.header().description()).endsWith(".");
            assertThat(detector.header().tags())
                    .isNotEmpty()
                    .allMatch(tag -> tag.startsWith("attack.") || tag.startsWith("performance."));
            assertThat(detector.header().falsePositives()).isNotEmpty();
            assertThat(detector.header().nextSteps()).isNotEmpty();
        });
    }

    @Test
    void disabledDetectorsDoNotRun() {
        assertThat(DetectorRun.file("off_hours: {enabled: false}").detectors()).isEmpty();
        assertThat(DetectorRun.file("").detectors()).isEmpty();
    }

    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of("sixth_sense: {}", "1:1", "there is no detector sixth_sense"),
                Arguments.of(
                        "off_hours:\n  weks: 4",
                        "2:3",
                        "off_hours has no setting weks; it has enabled, exceptions, level, regularity"),
                Arguments.of("off_hours: {weeks: 40}", "1:20", "from 2 to 7, found 40"),
                Arguments.of("off_hours: {weeks: 4.5}", "1:20", "whole number"),
                Arguments.of("off_hours: {regularity: often}", "1:25", "from 0.5 to 1, found often"),
                Arguments.of("off_hours: {level: dire}", "1:20", "one of informational"),
                Arguments.of("off_hours: {enabled: maybe}", "1:22", "true or false"),
                Arguments.of("off_hours: {exceptions: {usr: root}}", "1:26", "no field usr"),
                Arguments.of("off_hours: []", "1:12", "expected to be a map"),
                Arguments.of("dormant_account: {dormant: soon}", "1:28", "a timespan is expected"),
                Arguments.of("coverage: {silent: 10s}", "1:20", "at least 20s"),
                Arguments.of("coverage_gap: {silent: 5m}", "1:16", "coverage_gap has no setting silent"),
                Arguments.of("impossible_places: {}", "1:20", "geoip_file"),
                Arguments.of("impossible_places: {geoip_file: /nowhere.mmdb}", "1:33", "MaxMind"));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void mistakesAreRefusedWithTheirPlace(String yaml, String place, String reason) {
        DetectorConfig file = DetectorRun.file(yaml);

        assertThat(file.detectors()).isEmpty();
        assertThat(file.errors()).singleElement().satisfies(error -> assertThat(error.toString())
                .startsWith("detectors.yaml:" + place + ": ")
                .contains(reason));
    }
}
