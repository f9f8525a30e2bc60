package io.tailrace.reassembly;

import io.tailrace.reassembly.content.LineHashes;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/**
 * Simulates a server that writes and rotates a log, and a collector that ships lines and a census. All choices are
 * random and depend only on the seed.
 */
final class SimulatedHost {

    static final LogId LOG = new LogId("db1", "slowlog", "/l/slow.log");
    static final String BANNER = "B server 1\nB columns\n";

    /** Period in which the collector may report a renamed file under its old name. */
    private static final int NOTICE_MILLIS = 1500;

    /** One file of the log. */
    static final class LogFile {
        final long inode;
        final ByteArrayOutputStream content = new ByteArrayOutputStream();
        /** Bytes that reached the job at least once. */
        final BitSet delivered = new BitSet();

        String path = LOG.log();
        String pathBefore;
        long renamedAt;
        boolean open;
        int readTo;

        private LogFile(long inode) {
            this.inode = inode;
        }

        byte[] bytes() {
            return content.toByteArray();
        }

        int completeLines() {
            byte[] bytes = bytes();
            int end = bytes.length;
            while (end > 0 && bytes[end - 1] != '\n') {
                end--;
            }
            return end;
        }
    }

    /** A block and the file from which it was read. */
    record Sent(LogFile file, LineBlock block) {}

    private final Random random;
    private final boolean carriageReturns;
    private final boolean literals;
    private final boolean emptyLines;
    final List<LogFile> files = new ArrayList<>();
    private int entries;
    private int rotations;

    /**
     *
     * @param literals whether lines open and close literals, in which starts of entries have no meaning
     * @param emptyLines whether some lines have no content
     */
    SimulatedHost(Random random, boolean literals, boolean emptyLines) {
        this.random = random;
        this.carriageReturns = random.nextInt(3) == 0;
        this.emptyLines = emptyLines;
        this.literals = literals;
        open();
    }

    LogFile live() {
        return files.get(files.size() - 1);
    }

    private void open() {
        files.add(new LogFile(100 + files.size()));
        if (random.nextInt(4) > 0) {
            append(BANNER);
        }
    }

    private void append(String text) {
        live().content.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Writes some lines, rarely a part of one. */
    void write() {
        for (int lines = 1 + random.nextInt(12); lines > 0; lines--) {
            append(line());
        }
    }

    private String line() {
        String end = carriageReturns && random.nextInt(3) == 0 ? "\r\n" : "\n";
        int kind = random.nextInt(20);
        if (kind < 6) {
            return "E entry number " + entries++ + " " + "e".repeat(random.nextInt(60))
                    + (random.nextInt(3) == 0 ? ";" : "") + "\n";
        } else if (kind < 12) {
            return " body " + "x".repeat(random.nextInt(400)) + random.nextInt(1000) + end;
        } else if (kind < 16) {
            return " end " + "z".repeat(random.nextInt(90)) + random.nextInt(100000) + ";" + end;
        } else if (kind == 16 && emptyLines) {
            return end;
        } else if (kind == 17) {
            return "U" + (char) ('a' + random.nextInt(26)) + " is the database now" + end;
        } else if (kind == 18 && literals) {
            return "' literal" + end;
        }
        return random.nextInt(5) == 0 ? BANNER : " y" + end;
    }

    void rotate(long now) {
        rotations++;
        for (LogFile file : files) {
            int number = files.size() - files.indexOf(file);
            file.pathBefore = file.path;
            file.renamedAt = now;
            file.path = LOG.log() + "." + number;
        }
        if (random.nextBoolean()) {
            write();
        }
        open();
    }

    int rotations() {
        return rotations;
    }

    /** Reads some bytes of the files that the collector has open. */
    List<Sent> read(long now, boolean everything) {
        List<Sent> sent = new ArrayList<>();
        live().open = true;
        for (LogFile file : files) {
            if (file.open && (everything || random.nextInt(3) > 0)) {
                readFile(file, now, everything, sent);
            }
        }
        return sent;
    }

    private void readFile(LogFile file, long now, boolean everything, List<Sent> sent) {
        byte[] bytes = file.bytes();
        int end = file.completeLines();
        while (file.readTo < end && (everything || random.nextInt(5) > 0)) {
            int to = file.readTo;
            for (int lines = 1 + random.nextInt(8); lines > 0 && to < end; lines--) {
                to = LineHashes.end(bytes, to, end);
            }
            sent.add(new Sent(file, block(file, bytes, file.readTo, to, now)));
            file.readTo = to;
        }
    }

    private LineBlock block(LogFile file, byte[] bytes, int from, int to, long now) {
        byte[] lines = Arrays.copyOfRange(bytes, from, to);
        boolean stripped = lines.length > 2 && lines[lines.length - 2] == '\r' && lines[lines.length - 3] != '\n';
        if (stripped) {
            lines = Arrays.copyOf(lines, lines.length - 1);
            lines[lines.length - 1] = '\n';
        }
        boolean noticed = now - file.renamedAt > NOTICE_MILLIS || random.nextBoolean();
        String path = noticed ? file.path : file.pathBefore;
        return new LineBlock(
                new FileOrigin(LOG.toKey(), "c1", LOG.instance(), LOG.source(), "auto", "UTC", path),
                from,
                lines,
                now,
                false,
                0);
    }

    /** Restarts the collector: it opens only the live file, at its last position or before it. */
    void restartCollector() {
        for (LogFile file : files) {
            if (file != live()) {
                file.open = false;
            }
        }
        LogFile live = live();
        int back =
                switch (random.nextInt(4)) {
                    case 0 -> 0;
                    case 1 -> live.readTo;
                    default -> random.nextInt(live.readTo + 1);
                };
        byte[] bytes = live.bytes();
        while (back > 0 && bytes[back - 1] != '\n') {
            back--;
        }
        live.readTo = back;
    }

    List<CensusRecord> census(long now) {
        List<CensusRecord> records = new ArrayList<>();
        for (LogFile file : files) {
            byte[] bytes = file.bytes();
            int head = Math.min(bytes.length, 4096);
            records.add(new CensusRecord(
                    LOG.toKey(),
                    "c1",
                    LOG.instance(),
                    LOG.source(),
                    file.path,
                    file.inode,
                    bytes.length,
                    head,
                    md5(bytes, head),
                    now * 1000));
        }
        return records;
    }

    /** Creates a block with exact bytes, as a backfill ships them. */
    static LineBlock backfill(LogFile file, long generation, long from, long to) {
        byte[] bytes = Arrays.copyOfRange(file.bytes(), (int) from, (int) to);
        return new LineBlock(
                new FileOrigin(LOG.toKey(), "c1", LOG.instance(), LOG.source(), "auto", "UTC", file.path),
                from,
                bytes,
                0,
                true,
                generation);
    }

    private static String md5(byte[] bytes, int length) {
        try {
            MessageDigest digest = MessageDigest.getInstance("MD5");
            digest.update(bytes, 0, length);
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
