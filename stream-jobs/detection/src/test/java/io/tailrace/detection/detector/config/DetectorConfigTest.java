package io.tailrace.detection.detector.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.detector.DetectorRun;
import io.tailrace.detection.detector.DetectorType;
import io.tailrace.detection.detector.RenamedDetectorKeys;
import io.tailrace.detection.detector.StatefulDetector;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DetectorConfigTest {

    /** The detectors with {@code enabled: false} in rules/detectors.yaml. */
    private static final Set<DetectorType> DISABLED =
            Set.of(DetectorType.IMPOSSIBLE_PLACES, DetectorType.CONCURRENT_NETWORKS, DetectorType.FIRST_SEEN_STATEMENT);

    /** Settings of every detector, and settings that only a site can know. */
    private static final Set<String> OPTIONAL = Set.of("enabled", "exceptions", "level", "ttl", "geoip_file", "groups");

    /** The number of old names in the file of release 0.1.0. */
    private static final int NAMES = 25;

    @Test
    void theFileOfThePackIsTaken() throws IOException {
        DetectorConfig file = DetectorRun.file(Files.readString(Path.of("../../rules/detectors.yaml")));

        assertThat(file.errors()).isEmpty();
        assertThat(file.detectors())
                .extracting(detector -> detector.header().name())
                .as("detectors in rules/detectors.yaml that are enabled, by DetectorType.key()")
                .containsExactlyInAnyOrderElementsOf(Stream.of(DetectorType.values())
                        .filter(type -> !DISABLED.contains(type))
                        .map(DetectorType::key)
                        .toList());
        assertThat(file.detectors())
                .extracting(detector -> detector.header().id())
                .doesNotHaveDuplicates();
        assertThat(file.detectors()).allSatisfy(detector -> {
            String name = detector.header().name();
            assertThat(detector.header().description())
                    .as("description of %s in DetectorType", name)
                    .endsWith(".");
            assertThat(detector.header().tags())
                    .as("tags of %s in DetectorType", name)
                    .isNotEmpty()
                    .allMatch(tag -> tag.startsWith("attack.") || tag.startsWith("performance."));
            assertThat(detector.header().falsePositives())
                    .as("false positives of %s in DetectorType", name)
                    .isNotEmpty();
            assertThat(detector.header().nextSteps())
                    .as("next steps of %s in DetectorType", name)
                    .isNotEmpty();
        });
    }

    /** Except for exceptions and the time until an inactive entity is forgotten, as the file states. */
    @Test
    void theFileOfThePackContainsTheDefaults() throws IOException {
        List<StatefulDetector> pack = DetectorRun.file(Files.readString(Path.of("../../rules/detectors.yaml")))
                .detectors();
        String keysOnly = pack.stream()
                .map(detector -> DetectorType.of(detector.header().name()).orElseThrow())
                .map(type -> type.fileKey() + ": {}\n")
                .collect(Collectors.joining());
        assertThat(pack)
                .as("values in rules/detectors.yaml and defaults in DetectorFactory")
                .usingRecursiveComparison()
                .ignoringFieldsMatchingRegexes(".*line", ".*exceptions", ".*ttlMicros")
                .isEqualTo(DetectorRun.file(keysOnly).detectors());
    }

    @Test
    void theFileOfThePackNamesEverySetting() throws IOException {
        String pack = Files.readString(Path.of("../../rules/detectors.yaml"));
        for (DetectorType type : DetectorType.values()) {
            List<String> named = Stream.of(
                            pack.split("(?m)^" + type.fileKey() + ":\n", 2)[1].split("(?m)^(?! )", 2)[0].split("\n"))
                    .map(line -> line.strip().replaceFirst(":.*", ""))
                    .toList();
            assertThat(named)
                    .as("settings of %s in rules/detectors.yaml: add a new one with its default", type.fileKey())
                    .containsAll(settingsOf(type).stream()
                            .filter(setting -> !OPTIONAL.contains(setting))
                            .toList());
        }
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
                        "off_hours has no setting weks; it has enabled, exceptions, level, max_active_share"),
                Arguments.of("off_hours: {weeks: 40}", "1:20", "from 2 to 7, found 40"),
                Arguments.of("off_hours: {weeks: 4.5}", "1:20", "whole number"),
                Arguments.of("off_hours: {regularity: often}", "1:25", "from 0.5 to 1, found often"),
                Arguments.of("off_hours: {level: dire}", "1:20", "one of informational"),
                Arguments.of("off_hours: {enabled: maybe}", "1:22", "true or false"),
                Arguments.of("off_hours: {exceptions: {usr: root}}", "1:26", "no field usr"),
                Arguments.of("off_hours: []", "1:12", "expected to be a map"),
                Arguments.of("dormant_account: {inactivity: soon}", "1:31", "a timespan is expected"),
                Arguments.of("census_timeout: {timeout: 10s}", "1:27", "at least 20s"),
                Arguments.of("log_gap: {timeout: 5m}", "1:11", "log_gap has no setting timeout"),
                Arguments.of("impossible_travel: {}", "1:20", "geoip_file"),
                Arguments.of("impossible_travel: {geoip_file: /nowhere.mmdb}", "1:33", "MaxMind"));
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

    @Test
    void theFileOfAnEarlierReleaseGivesTheSameDetectors() throws IOException {
        DetectorConfig written = DetectorRun.file(resource("release-0.1.0.yaml"));
        DetectorConfig renamed = DetectorRun.file(resource("release-0.1.0-with-new-names.yaml"));

        assertThat(written.errors()).isEmpty();
        assertThat(written.warnings()).hasSize(NAMES);
        assertThat(renamed.errors()).isEmpty();
        assertThat(renamed.warnings()).isEmpty();
        assertThat(written.detectors())
                .usingRecursiveComparison()
                .withStrictTypeChecking()
                .isEqualTo(renamed.detectors());
    }

    static Stream<Arguments> renamedKeys() {
        return Stream.of(
                Arguments.of("%s: {enabled: false}", "coverage", "census_timeout", "1:1"),
                Arguments.of("%s: {enabled: false}", "coverage_gap", "log_gap", "1:1"),
                Arguments.of("%s: {enabled: false}", "impossible_places", "impossible_travel", "1:1"),
                Arguments.of("%s: {enabled: false}", "plan_slower", "plan_regression", "1:1"),
                Arguments.of("volume_rows: {%s: 77}", "at_least", "min_amount", "1:15"),
                Arguments.of("dormant_account: {%s: 77d}", "dormant", "inactivity", "1:19"),
                Arguments.of("first_seen_user: {%s: 7}", "most_per_day", "max_alerts_per_day", "1:19"),
                Arguments.of("first_seen_user: {%s: 77}", "most_values", "max_values", "1:19"),
                Arguments.of("first_seen_user: {%s: 7d}", "settle", "settling_period", "1:19"),
                Arguments.of("census_timeout: {%s: 77m}", "silent", "timeout", "1:18"),
                Arguments.of("off_hours: {%s: 0.7}", "widest", "max_active_share", "1:13"));
    }

    @ParameterizedTest
    @MethodSource("renamedKeys")
    void anOldKeyWorksWithAWarning(String yaml, String oldKey, String newKey, String place) {
        DetectorConfig old = DetectorRun.file(yaml.formatted(oldKey));
        DetectorConfig renamed = DetectorRun.file(yaml.formatted(newKey));

        assertThat(old.errors()).isEmpty();
        assertThat(old.warnings())
                .singleElement()
                .hasToString("detectors.yaml:" + place + ": " + oldKey + " is now called " + newKey
                        + "; release 0.3.0 removes the old name");
        assertThat(renamed.errors()).isEmpty();
        assertThat(renamed.warnings()).isEmpty();
        assertThat(old.detectors()).usingRecursiveComparison().isEqualTo(renamed.detectors());
    }

    @ParameterizedTest
    @MethodSource("renamedKeys")
    void anOldKeyBesideTheNewOneIsRefused(String yaml, String oldKey, String newKey, String place) {
        String both = yaml.startsWith("%s")
                ? yaml.formatted(oldKey) + "\n" + yaml.formatted(newKey)
                : yaml.replaceFirst("\\{%s: (.*)}", "{" + oldKey + ": $1, " + newKey + ": $1}");

        assertThat(DetectorRun.file(both).errors())
                .singleElement()
                .hasToString("detectors.yaml:" + place + ": " + oldKey + " is the old name of " + newKey
                        + ", and both are given: remove " + oldKey);
    }

    @Test
    void oldKeysAreNoOtherKeys() {
        assertThat(renamedKeys().map(each -> each.get()[1]))
                .containsExactlyInAnyOrderElementsOf(Stream.concat(
                                RenamedDetectorKeys.DETECTORS.keySet().stream(),
                                RenamedDetectorKeys.SETTINGS.keySet().stream())
                        .toList());
        for (DetectorType kind : DetectorType.values()) {
            assertThat(RenamedDetectorKeys.DETECTORS).doesNotContainKey(kind.fileKey());
            assertThat(settingsOf(kind))
                    .contains("ttl")
                    .doesNotContainAnyElementsOf(RenamedDetectorKeys.SETTINGS.keySet());
        }
    }

    /** Returns the settings that the detector reads, from the error for one that it does not have. */
    private static List<String> settingsOf(DetectorType type) {
        String reason = DetectorRun.file(type.fileKey() + ": {enabled: false, nonsense: 1}")
                .errors()
                .get(0)
                .reason();
        return List.of(reason.replaceFirst(".*; it has ", "").split(", "));
    }

    private static String resource(String name) throws IOException {
        return Files.readString(Path.of("src/test/resources/detectors", name));
    }
}
