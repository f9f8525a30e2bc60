package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.AuditFormats;
import io.tailrace.framing.LogFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The first byte of a framer's snapshot: docs/STATE.md, "Snapshots of framers". Snapshots without a version begin with
 * the position in the file, eight bytes of which the first is 0, so a version above 0 can be added to them later.
 */
class FramerSnapshotTest {

    /** Framers of 0.2.0, in development, whose snapshots still begin with the position. */
    private static final Set<String> WITHOUT_VERSION = Set.of("mysql-error");

    static List<LogFormat> formats() {
        return new FormatRegistry().all();
    }

    @ParameterizedTest
    @MethodSource("formats")
    void beginsWithAVersionOrWithAPosition(LogFormat format) {
        boolean sharesAFramer =
                AuditFormats.all().stream().anyMatch(audit -> audit.name().equals(format.name()));
        byte first = format.newFramer().snapshot()[0];
        if (sharesAFramer || WITHOUT_VERSION.contains(format.name())) {
            assertThat(first).as("first byte of a position").isZero();
        } else {
            assertThat(first)
                    .as(
                            "version with which the snapshots of %s begin: docs/STATE.md, Snapshots of framers",
                            format.name())
                    .isPositive();
        }
    }
}
