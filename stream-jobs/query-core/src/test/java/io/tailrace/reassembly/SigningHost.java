package io.tailrace.reassembly;

import io.tailrace.event.SignedRange;
import io.tailrace.reassembly.content.HeadHash;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
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
    private long sequence;

    SigningHost(int rangeBytes) {
        this.rangeBytes = rangeBytes;
    }

    /**
     * Returns the ranges of a file that are new since the last call.
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
        return ranges;
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
        range.setSequence(++sequence);
        range.setPrevious("");
        range.setPayload("{}");
        range.setPayloadSha256("");
        range.setSignature("");
        range.setStatus("");
        range.setReason("");
        range.setSignedAt(Instant.ofEpochMilli(nowMillis));
        range.setVerifiedAt(Instant.EPOCH);
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
