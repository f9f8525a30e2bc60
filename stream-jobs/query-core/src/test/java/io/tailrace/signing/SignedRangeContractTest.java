package io.tailrace.signing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.testing.Contract;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The hashes and signatures of schemas/contracts/signed_range.json, which the signer tests as well. */
class SignedRangeContractTest {

    private final Map<String, Object> contract = Contract.of("signed_range");

    SignedRangeContractTest() throws IOException {}

    @Test
    void hashesOmitCarriageReturnsBeforeALineFeed() {
        RangeHash hash = new RangeHash();
        for (Map<String, Object> each : Contract.cases(contract, "hashes")) {
            byte[] bytes = Contract.content(each).getBytes(ISO_8859_1);
            assertThat(HexFormat.of().formatHex(hash.of(bytes, 0, bytes.length)))
                    .as("%s", each.get("case"))
                    .isEqualTo(each.get("sha256"));
        }
    }

    @Test
    void rangesOfOneRecordHaveARoot() {
        for (Map<String, Object> each : Contract.cases(contract, "roots")) {
            List<EarlierRanges.Range> ranges = new ArrayList<>();
            for (int n = 0; n < ((Number) each.get("ranges")).intValue(); n++) {
                byte[] hash =
                        HexFormat.of().parseHex(RangeHash.hex(String.valueOf(n).getBytes(UTF_8)));
                ranges.add(new EarlierRanges.Range(16_384 + n, hash));
            }
            assertThat(HexFormat.of().formatHex(EarlierRanges.root(ranges))).isEqualTo(each.get("earlier_root"));
            String text = EarlierRanges.text(ranges);
            assertThat(RangeHash.hex(text.getBytes(UTF_8))).isEqualTo(each.get("earlier_ranges_sha256"));
            assertThat(EarlierRanges.text(EarlierRanges.of(text))).isEqualTo(text);
        }
    }

    @Test
    void signaturesAreValidOnlyForTheirPayload() {
        HostKey key = HostKey.of((String) contract.get("public_key"));
        assertThat(key.id()).isEqualTo(contract.get("key"));
        List<Map<String, Object>> signatures = Contract.cases(contract, "signatures");
        assertThat(signatures).isNotEmpty();
        for (Map<String, Object> each : signatures) {
            byte[] payload = ((String) each.get("payload")).getBytes(UTF_8);
            assertThat(key.signed(payload, (String) each.get("signature")))
                    .as("%s", each.get("case"))
                    .isEqualTo(each.get("valid"));
            assertThat(RangeHash.hex(payload)).isEqualTo(each.get("payload_sha256"));
        }
    }
}
