package io.tailrace.reassembly.signing;

import io.tailrace.event.SignedRange;
import io.tailrace.signing.EarlierRanges;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * One of the ranges that a record signs.
 *
 * @param from offset in the file
 * @param to offset after the last byte
 * @param closed whether no later record extends the range
 * @param hash 32 bytes
 */
record SignedPart(long from, long to, boolean closed, byte[] hash) {

    /** Returns the ranges of a record in the order of the file: the earlier ones, and its own. */
    static List<SignedPart> of(SignedRange record) {
        List<SignedPart> parts = new ArrayList<>();
        long from = record.getFromOffset();
        for (EarlierRanges.Range range : EarlierRanges.of(record.getEarlierRanges())) {
            parts.add(new SignedPart(from, from + range.bytes(), true, range.hash()));
            from += range.bytes();
        }
        byte[] hash = HexFormat.of().parseHex(record.getSha256());
        parts.add(new SignedPart(from, record.getToOffset(), record.getClosed(), hash));
        return parts;
    }

    /** Returns a record as if it signed only these of its ranges, which follow each other. */
    static SignedRange record(SignedRange whole, List<SignedPart> parts) {
        int last = parts.size() - 1;
        return SignedRange.newBuilder(whole)
                .setFromOffset(parts.get(0).from)
                .setToOffset(parts.get(last).to)
                .setClosed(parts.get(last).closed)
                .setSha256(HexFormat.of().formatHex(parts.get(last).hash))
                .setEarlierRanges(EarlierRanges.text(parts.subList(0, last).stream()
                        .map(part -> new EarlierRanges.Range(part.to - part.from, part.hash))
                        .toList()))
                .build();
    }
}
