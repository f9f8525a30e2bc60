package io.tailrace.flink.signing;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.tailrace.event.SignedRange;
import io.tailrace.flink.ingest.MessagePack;
import io.tailrace.signing.EarlierRanges;
import io.tailrace.signing.HostKey;
import io.tailrace.signing.RangeHash;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Signature;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A host that signs with a key of its own. */
public final class SigningHost {

    /** The name of the host. */
    static final String HOST = "db-host-1";
    /** A hash of no bytes. */
    static final String HASH = "ab".repeat(32);

    private final KeyPair keys;
    private final String publicKey;
    long sequence;
    private String previous = "";

    public SigningHost() {
        try {
            keys = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
        byte[] encoded = keys.getPublic().getEncoded();
        publicKey =
                Base64.getEncoder().encodeToString(Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length));
    }

    String id() {
        return HostKey.of(publicKey).id();
    }

    SigningHost register(SignatureFunctionTest test) throws Exception {
        test.register(entry(HOST, "null", "null"));
        return this;
    }

    /** Returns the value of the topic of keys, with this key only. */
    public byte[] registered() {
        return ("{" + entry(HOST, "null", "null") + "}").getBytes(UTF_8);
    }

    String entry(String name, String replaces, String revokedAt) {
        return String.format(
                "\"%s\":{\"host\":\"%s\",\"public_key\":\"%s\",\"registered_at\":\"2026-01-01T00:00:00Z\","
                        + "\"replaces\":%s,\"revoked_at\":%s}",
                id(), name, publicKey, replaces, revokedAt);
    }

    List<SignedRange> ranges(int count) throws Exception {
        List<SignedRange> ranges = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String range = "\"from\":" + sequence * 10 + ",\"to\":" + (sequence * 10 + 10);
            ranges.add(append(payload(sequence + 1, previous, range)));
        }
        return ranges;
    }

    /** Signs ranges before the byte {@code to} and ten bytes after it, and returns the record with other ones. */
    List<SignedRange> earlier(int to, List<EarlierRanges.Range> ranges, String sent) throws Exception {
        long bytes = ranges.stream().mapToLong(EarlierRanges.Range::bytes).sum();
        String range = String.format(
                "\"earlier_from\":%d,\"earlier_root\":\"%s\",\"from\":%d,\"to\":%d",
                to - bytes, HexFormat.of().formatHex(EarlierRanges.root(ranges)), to, to + 10);
        SignedRange signed = append(payload(sequence + 1, previous, range));
        return List.of(SignedRangeMessage.read(signed.getPayload(), signed.getKey(), signed.getSignature(), sent));
    }

    List<SignedRange> rotate(SigningHost next) throws Exception {
        SignedRange rotation = append(String.format(
                "{\"host\":\"%s\",\"sequence\":%d,\"previous\":\"%s\",\"at\":1795000000000000,\"new_key\":\"%s\"}",
                HOST, sequence + 1, previous, next.publicKey));
        next.sequence = sequence;
        next.previous = previous;
        return List.of(rotation);
    }

    /** Signs a range of a file as the next record, and returns it as a message of the topic. */
    public byte[] message(String path, byte[] file, int from, int to, boolean closed, String sha256) throws Exception {
        String head = HexFormat.of()
                .formatHex(MessageDigest.getInstance("MD5").digest(Arrays.copyOf(file, Math.min(file.length, 4096))));
        SignedRange range = append(String.format(
                "{\"host\":\"%s\",\"sequence\":%d,\"previous\":\"%s\",\"at\":%d,\"cluster\":\"shop\","
                        + "\"instance\":\"db-1\",\"source\":\"slowlog\",\"path\":\"%s\",\"inode\":7,"
                        + "\"head_length\":%d,\"head_hash\":\"%s\",\"from\":%d,\"to\":%d,\"closed\":%s,"
                        + "\"sha256\":\"%s\"}",
                HOST,
                sequence + 1,
                previous,
                System.currentTimeMillis() * 1000,
                path,
                Math.min(file.length, 4096),
                head,
                from,
                to,
                closed,
                sha256));
        return message(range.getPayload(), range.getSignature());
    }

    /** Returns a message of the topic. */
    public byte[] message(String payload, String signature) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("host", HOST);
        map.put("payload", payload.getBytes(UTF_8));
        map.put("key", id());
        map.put("signature", signature);
        return MessagePack.map(map);
    }

    String payload(long number, String before, String range) {
        return String.format(
                "{\"host\":\"%s\",\"sequence\":%d,\"previous\":\"%s\",\"at\":1795000000000000,\"cluster\":\"c\","
                        + "\"instance\":\"db1\",\"source\":\"slowlog\",\"path\":\"/slow.log\",\"inode\":7,"
                        + "\"head_length\":14,\"head_hash\":\"x\",%s,\"closed\":true,\"sha256\":\"%s\"}",
                HOST, number, before, range, HASH);
    }

    private SignedRange append(String payload) throws Exception {
        sequence++;
        previous = RangeHash.hex(payload.getBytes(UTF_8));
        return sign(payload);
    }

    SignedRange sign(String payload) throws Exception {
        Signature signer = Signature.getInstance("Ed25519");
        signer.initSign(keys.getPrivate());
        signer.update(("tailrace-signed-range-v1\n" + payload).getBytes(UTF_8));
        return SignedRangeMessage.read(payload, id(), Base64.getEncoder().encodeToString(signer.sign()), "");
    }
}
