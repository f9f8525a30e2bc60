package io.tailrace.flink.normalize;

import io.tailrace.flink.signing.SigningHost;
import io.tailrace.signing.RangeHash;
import java.util.Arrays;

/** Signs the ranges of a growing log whose lines all end with a line feed, like the census of its host. */
final class SignedLog {

    private static final String TOPIC = "tailrace.signed_ranges";
    private static final int RANGE_BYTES = 16_384;

    private final SigningHost host = new SigningHost();
    private final SlowLogFile log;
    private final String path;
    private int from;
    private long records;
    private long closed;

    SignedLog(SlowLogFile log, String path) throws Exception {
        this.log = log;
        this.path = path;
        log.send("tailrace.host_keys", "keys", host.registered());
    }

    /** Returns the number of records so far. */
    long records() {
        return records;
    }

    /** Returns the number of closed ranges so far. */
    long closed() {
        return closed;
    }

    /** Signs what is new. Each record is sent twice, because the topic is at least once. */
    void sign() throws Exception {
        byte[] file = log.content();
        while (from < file.length) {
            int to = end(file, from + RANGE_BYTES - 1);
            boolean isClosed = to - from >= RANGE_BYTES;
            send(file, to, isClosed, RangeHash.hex(Arrays.copyOfRange(file, from, to)));
            if (!isClosed) {
                return;
            }
            closed++;
            from = to;
        }
    }

    /** Signs other bytes than those of the open range. */
    void signOtherBytes() throws Exception {
        byte[] file = log.content();
        send(file, file.length, false, RangeHash.hex(new byte[] {1}));
    }

    private void send(byte[] file, int to, boolean isClosed, String hash) throws Exception {
        byte[] message = host.message(path, file, from, to, isClosed, hash);
        log.send(TOPIC, "db-host-1", message);
        log.send(TOPIC, "db-host-1", message);
        records++;
    }

    private static int end(byte[] file, int from) {
        int end = Math.min(from, file.length - 1);
        while (file[end] != '\n') {
            end++;
        }
        return end + 1;
    }
}
