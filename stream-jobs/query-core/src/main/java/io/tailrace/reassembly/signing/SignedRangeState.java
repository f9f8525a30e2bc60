package io.tailrace.reassembly.signing;

import io.tailrace.event.SignedRange;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateVersion;
import io.tailrace.reassembly.state.StateWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The layout of a signed range in the state of its log. */
final class SignedRangeState {

    private SignedRangeState() {}

    static void write(StateWriter out, SignedRange range) {
        out.text(range.getCluster());
        out.text(range.getPath());
        out.number(range.getInode());
        out.number(range.getHeadLength());
        out.text(range.getHeadHash());
        out.number(range.getFromOffset());
        out.number(range.getToOffset());
        out.flag(range.getClosed());
        out.text(range.getSha256());
        out.text(range.getHost());
        out.text(range.getKey());
        out.number(range.getSequence());
        out.text(range.getPrevious());
        out.text(range.getPayload());
        out.text(range.getPayloadSha256());
        out.text(range.getSignature());
        out.text(range.getStatus());
        out.text(range.getReason());
        out.number(ChronoUnit.MICROS.between(Instant.EPOCH, range.getSignedAt()));
        out.text(range.getEarlierRanges());
    }

    static SignedRange read(StateReader in, LogId id) {
        SignedRange range = new SignedRange();
        range.setInstance(id.instance());
        range.setSource(id.source());
        range.setLog(id.log());
        range.setCluster(in.text());
        range.setPath(in.text());
        range.setGeneration(0L);
        range.setInode(in.number());
        range.setHeadLength(in.count());
        range.setHeadHash(in.text());
        range.setFromOffset(in.number());
        range.setToOffset(in.number());
        range.setClosed(in.flag());
        range.setSha256(in.text());
        range.setHost(in.text());
        range.setKey(in.text());
        range.setSequence(in.number());
        range.setPrevious(in.text());
        range.setPayload(in.text());
        range.setPayloadSha256(in.text());
        range.setSignature(in.text());
        range.setStatus(in.text());
        range.setReason(in.text());
        range.setSignedAt(Instant.EPOCH.plus(in.number(), ChronoUnit.MICROS));
        range.setVerifiedAt(Instant.EPOCH);
        range.setEarlierRanges(in.version() < StateVersion.WITH_EARLIER_RANGES ? "" : in.text());
        return range;
    }
}
