package io.tailrace.reassembly;

import io.tailrace.event.SignedRange;
import io.tailrace.reassembly.content.HeadHash;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Divides files into ranges as a host does that signs them: a second implementation, which knows the files. */
final class SigningHost {

    private final int rangeBytes;
    /** Start of the open range of each file, by inode. */
    private final Map<Long, Integer> starts = new HashMap<>();

    private final Map<Long, Integer> signedTo = new HashMap<>();
    private final Map<Long, List<SignedRange>> signed = new HashMap<>();
    private final int most;
    private long sequence;

    /** @param most ranges that a record signs */
    SigningHost(int rangeBytes, int most) {
        this.rangeBytes = rangeBytes;
        this.most = most;
    }

    /** Returns each range that a row covers, with the status of the row. */
    List<SignedRange> rangesOf(SignedRange row) {
        return signed.get(row.getSequence()).stream()
                .filter(range ->
                        range.getFromOffset() >= row.getFromOffset() && range.getToOffset() <= row.getToOffset())
                .map(range ->
                        SignedRange.newBuilder(range).setStatus(row.getStatus()).build())
                .toList();
    }

    /**
     * Returns records of the ranges of a file that are new since the last call.
     *
     * @param rotated whether nothing more is written to the file
     */
    List<SignedRange> sign(LogId log, String path, long inode, byte[] file, boolean rotated, long nowMillis) {
        List<SignedRange> ranges = new ArrayList<>();
        int from = starts.getOrDefault(inode, 0);
        int end = completeLines(file);
        end = rotated ? file.length : end;
        while (from < end) {
            int to = Math.min(lineEnd(file, from + rangeBytes - 1), end);
            boolean closed = to - from >= rangeBytes || rotated;
            if (closed || to > signedTo.getOrDefault(inode, 0)) {
                ranges.add(range(log, path, inode, file, from, to, closed, nowMillis));
                signedTo.put(inode, to);
            }
            if (!closed) {
                break;
            }
            from = to;
        }
        starts.put(inode, from);
        List<SignedRange> records = new ArrayList<>();
        for (int first = 0; first < ranges.size(); first += most) {
            records.add(record(ranges.subList(first, Math.min(first + most, ranges.size()))));
        }
        return records;
    }

    private SignedRange record(List<SignedRange> ranges) {
        int last = ranges.size() - 1;
        ByteBuffer earlier = ByteBuffer.allocate(last * 36);
        for (SignedRange range : ranges.subList(0, last)) {
            earlier.putInt((int) (range.getToOffset() - range.getFromOffset()));
            earlier.put(HexFormat.of().parseHex(range.getSha256()));
        }
        signed.put(++sequence, List.copyOf(ranges));
        return SignedRange.newBuilder(ranges.get(last))
                .setSequence(sequence)
                .setFromOffset(ranges.get(0).getFromOffset())
                .setEarlierRanges(Base64.getEncoder().encodeToString(earlier.array()))
                .build();
    }

    private static int completeLines(byte[] file) {
        int end = file.length;
        while (end > 0 && file[end - 1] != '\n') {
            end--;
        }
        return end;
    }

    private static int lineEnd(byte[] file, int from) {
        int end = from;
        while (end < file.length && file[end] != '\n') {
            end++;
        }
        return end + 1;
    }

    private SignedRange range(
            LogId log, String path, long inode, byte[] file, int from, int to, boolean closed, long nowMillis) {
        SignedRange range = new SignedRange();
        range.setCluster("c1");
        range.setInstance(log.instance());
        range.setSource(log.source());
        range.setLog(log.log());
        range.setPath(path);
        range.setGeneration(0L);
        range.setInode(inode);
        int head = Math.min(file.length, 4096);
        range.setHeadLength(head);
        range.setHeadHash(HeadHash.hex(file, head));
        range.setFromOffset((long) from);
        range.setToOffset((long) to);
        range.setClosed(closed);
        range.setSha256(hash(file, from, to));
        range.setHost("host-1");
        range.setKey("0123456789abcdef");
        range.setSequence(0L);
        range.setPrevious("");
        range.setPayload("{}");
        range.setPayloadSha256("");
        range.setSignature("");
        range.setStatus("");
        range.setReason("");
        range.setSignedAt(Instant.ofEpochMilli(nowMillis));
        range.setVerifiedAt(Instant.EPOCH);
        range.setEarlierRanges("");
        return range;
    }

    private static String hash(byte[] file, int from, int to) {
        String text = new String(file, from, to - from, StandardCharsets.ISO_8859_1);
        byte[] hashed = text.replaceAll("\r+\n", "\n").getBytes(StandardCharsets.ISO_8859_1);
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(hashed));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
