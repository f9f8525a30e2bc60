package io.tailrace.flink.signing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.event.SignedRange;
import io.tailrace.flink.ingest.SignedPayloadMessage;
import io.tailrace.reassembly.LogId;
import io.tailrace.signing.EarlierRanges;
import io.tailrace.signing.HostKey;
import io.tailrace.signing.RangeHash;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.List;

/** Reads the payload of a signed range (schemas/signed-range.schema.json). Its signature is not verified here. */
final class SignedRangeMessage {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String NEW_KEY = "new_key";
    private static final String EARLIER_FROM = "earlier_from";
    private static final int HASH_DIGITS = 2 * RangeHash.BYTES;

    private SignedRangeMessage() {}

    /** Returns the record of a message: see {@link #read(String, String, String, String)}. */
    static SignedRange read(SignedPayloadMessage message) {
        return read(message.payload(), message.key(), message.signature(), message.earlierRanges());
    }

    /**
     * Returns the record with the fields of its payload. If {@code earlierRanges} are not those that the payload signs,
     * the reason states it.
     *
     * @param earlierRanges lengths and hashes in base64; empty if the record signs one range
     * @throws IllegalArgumentException if the payload is not one of a host's chain
     */
    static SignedRange read(String payload, String key, String signature, String earlierRanges) {
        JsonNode fields = parse(payload);
        SignedRange range = empty();
        range.setPayload(payload);
        range.setPayloadSha256(RangeHash.hex(payload.getBytes(StandardCharsets.UTF_8)));
        range.setKey(key);
        range.setSignature(signature);
        range.setHost(text(fields, "host"));
        range.setSequence(number(fields, "sequence"));
        range.setPrevious(text(fields, "previous"));
        range.setSignedAt(Instant.EPOCH.plus(number(fields, "at"), ChronoUnit.MICROS));
        if (!fields.has(NEW_KEY)) {
            readRange(fields, range);
        }
        if (fields.has(EARLIER_FROM)) {
            readEarlierRanges(fields, range, earlierRanges);
        }
        return range;
    }

    private static void readEarlierRanges(JsonNode fields, SignedRange range, String text) {
        long from = number(fields, EARLIER_FROM);
        range.setEarlierRanges(text);
        boolean signed;
        try {
            List<EarlierRanges.Range> ranges = EarlierRanges.of(text);
            long bytes = ranges.stream().mapToLong(EarlierRanges.Range::bytes).sum();
            signed = !ranges.isEmpty()
                    && from + bytes == range.getFromOffset()
                    && HexFormat.of().formatHex(EarlierRanges.root(ranges)).equals(text(fields, "earlier_root"));
        } catch (IllegalArgumentException e) {
            signed = false;
        }
        if (signed) {
            range.setFromOffset(from);
        } else {
            range.setReason("the earlier ranges are not those that the payload signs");
        }
    }

    private static void readRange(JsonNode fields, SignedRange range) {
        range.setCluster(text(fields, "cluster"));
        range.setInstance(text(fields, "instance"));
        range.setSource(text(fields, "source"));
        range.setPath(text(fields, "path"));
        range.setLog(LogId.canonicalPath(range.getPath()));
        range.setInode(number(fields, "inode"));
        range.setHeadLength(Math.toIntExact(number(fields, "head_length")));
        range.setHeadHash(text(fields, "head_hash"));
        range.setFromOffset(number(fields, "from"));
        range.setToOffset(number(fields, "to"));
        range.setClosed(fields.path("closed").asBoolean());
        range.setSha256(text(fields, "sha256"));
        boolean hash = range.getSha256().length() == HASH_DIGITS
                && range.getSha256().chars().allMatch(HexFormat::isHexDigit);
        if (!hash || range.getInstance().isEmpty() || range.getToOffset() <= range.getFromOffset()) {
            throw new IllegalArgumentException("expected an instance, a hash and a range that is not empty");
        }
    }

    private static SignedRange empty() {
        SignedRange range = new SignedRange();
        range.setCluster("");
        range.setInstance("");
        range.setSource("");
        range.setLog("");
        range.setPath("");
        range.setHeadHash("");
        range.setSha256("");
        range.setStatus("");
        range.setReason("");
        range.setVerifiedAt(Instant.EPOCH);
        range.setEarlierRanges("");
        return range;
    }

    private static JsonNode parse(String payload) {
        try {
            return JSON.readTree(payload);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the payload is not JSON", e);
        }
    }

    private static String text(JsonNode fields, String name) {
        JsonNode value = fields.path(name);
        if (!value.isTextual()) {
            throw new IllegalArgumentException("expected the text " + name);
        }
        return value.textValue();
    }

    private static long number(JsonNode fields, String name) {
        JsonNode value = fields.path(name);
        if (!value.canConvertToLong() || !value.isIntegralNumber() || value.longValue() < 0) {
            throw new IllegalArgumentException("expected the number " + name);
        }
        return value.longValue();
    }

    /** Returns the key to which a payload rotates; null if it is a range. */
    static HostKey newKey(SignedRange range) {
        JsonNode key = parse(range.getPayload()).path(NEW_KEY);
        return key.isTextual() ? HostKey.of(key.textValue()) : null;
    }
}
