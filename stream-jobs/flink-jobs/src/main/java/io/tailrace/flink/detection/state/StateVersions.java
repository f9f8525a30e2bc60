package io.tailrace.flink.detection.state;

import java.io.IOException;

/** Checks the version at the beginning of each state. */
final class StateVersions {

    private StateVersions() {}

    static void expect(byte known, byte found) throws IOException {
        if (found != known) {
            throw new IOException("expected state of version " + known + ", found " + found
                    + ": it was written by another version of Tailrace");
        }
    }
}
