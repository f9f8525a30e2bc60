package io.tailrace.detection.detector.location;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.tailrace.detection.detector.DetectorRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImpossibleTravelDetectorTest {

    private static final double DAY = 24;

    @TempDir
    private Path directory;

    private DetectorRun run;

    @BeforeEach
    void start() throws IOException {
        Path file = new MmdbFile()
                .place(81, "Vienna", "AT", 48.2, 16.37)
                .place(82, "Graz", "AT", 47.07, 15.44)
                .place(202, "Tokyo", "JP", 35.68, 139.69)
                .write(directory.resolve("places.mmdb"));
        run = new DetectorRun("impossible_travel: {geoip_file: '" + file + "'}");
        for (int day = 0; day < 15; day++) {
            run.at(day * DAY, "user", "ann", "src_ip", "81.0.0.1");
        }
    }

    @Test
    void viennaAndTokyoWithinAnHourAreImpossible() {
        run.at(15 * DAY, "user", "ann", "src_ip", "81.0.0.1").at(15 * DAY + 1, "user", "ann", "src_ip", "202.1.2.3");

        assertThat(run.alert().facts())
                .containsEntry("place", "Tokyo, JP")
                .containsEntry("other_place", "Vienna, AT")
                .containsEntry("minutes_apart", "60");
        assertThat(Integer.parseInt(run.alert().facts().get("kilometres"))).isCloseTo(9140, within(50));
        run.at(15 * DAY + 2, "user", "ann", "src_ip", "81.0.0.1");
        assertThat(run.alerts()).as("a pair is said once").hasSize(1);
    }

    @Test
    void aFlightIsPossible() {
        run.at(15 * DAY, "user", "ann", "src_ip", "81.0.0.1").at(15 * DAY + 12, "user", "ann", "src_ip", "202.1.2.3");
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void neighboursAreOnePlaceAndUnknownAddressesNone() {
        run.at(15 * DAY, "user", "ann", "src_ip", "81.0.0.1")
                .at(15 * DAY, "user", "ann", "src_ip", "82.0.0.1")
                .at(15 * DAY, "user", "ann", "src_ip", "10.0.0.1")
                .at(15 * DAY, "user", "ann", "src_ip", "web1");
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void aFileThatIsNoneIsRefused() throws IOException {
        Path file = Files.writeString(directory.resolve("x.mmdb"), "not a database");

        assertThat(DetectorRun.file("impossible_travel: {geoip_file: '" + file + "'}")
                        .errors())
                .singleElement()
                .satisfies(error -> assertThat(error.reason()).contains("MaxMind"));
    }
}
