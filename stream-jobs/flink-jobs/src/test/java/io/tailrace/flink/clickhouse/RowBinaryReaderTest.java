package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.Fingerprint;
import io.tailrace.event.QueryEvent;
import io.tailrace.event.TraceSpan;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.specific.SpecificRecord;
import org.junit.jupiter.api.Test;

/** Reads back what {@link RowBinaryEncoder} writes. */
class RowBinaryReaderTest {

    @Test
    void findsWhereRowsOfEveryKindOfColumnEnd() {
        RowBinaryReader rows = reader(QueryEvent.getClassSchema(), Rows.event(300), Rows.event(-1), Rows.event(7));
        for (long number : new long[] {300, -1, 7}) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.number("entry_offset")).isEqualTo(number);
            assertThat(rows.text("user")).isEqualTo("Zoë");
            assertThat(rows.number("after_checkpoint")).isEqualTo(42);
        }
        assertThat(rows.next()).isFalse();
    }

    @Test
    void findsWhereSpansEnd() {
        RowBinaryReader rows = reader(TraceSpan.getClassSchema(), Rows.span(0), Rows.span(1), Rows.span(200));
        for (int events : new int[] {0, 1, 200}) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.number("Duration")).isEqualTo(events);
            assertThat(rows.text("endpoint")).isEqualTo("GET /orders");
            assertThat(rows.number("after_checkpoint")).isEqualTo(42);
        }
        assertThat(rows.next()).isFalse();
    }

    @Test
    void readsFlagsAndIds() {
        DeadLetter letter = Rows.deadLetter(9);
        RowBinaryReader rows = reader(DeadLetter.getClassSchema(), letter);
        assertThat(rows.next()).isTrue();
        assertThat(rows.flag("superseded")).isTrue();
        assertThat(rows.uuid("dead_letter_id"))
                .isEqualTo(letter.getDeadLetterId().bytes());
    }

    @Test
    void readsStringsOfAnyLength() {
        for (int length : new int[] {0, 1, 127, 128, 16_383, 16_384, 3_000_000}) {
            DeadLetter letter = Rows.deadLetter(1);
            letter.setMessage("m".repeat(length));
            RowBinaryReader rows = reader(DeadLetter.getClassSchema(), letter, Rows.deadLetter(2));
            assertThat(rows.next()).isTrue();
            assertThat(rows.text("message")).hasSize(length);
            assertThat(rows.next()).isTrue();
            assertThat(rows.number("entry_offset")).isEqualTo(2);
        }
    }

    @Test
    void findsWhereArraysOfIdsEnd() {
        Fingerprint with = Rows.fingerprint(List.of(1L, -2L));
        RowBinaryReader rows = reader(Fingerprint.getClassSchema(), with, Rows.fingerprint(List.of()), with);
        for (int row = 0; row < 3; row++) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.text("fingerprint")).isEqualTo("select ?");
            assertThat(rows.number("after_checkpoint")).isEqualTo(42);
        }
        assertThat(rows.next()).isFalse();
    }

    @Test
    void aColumnThatRowsDoNotHaveIsEmpty() {
        RowBinaryReader rows = reader(DeadLetter.getClassSchema(), Rows.deadLetter(1));
        assertThat(rows.next()).isTrue();
        assertThat(rows.has("path")).isFalse();
        assertThat(rows.text("path")).isEmpty();
        assertThat(rows.number("size")).isZero();
    }

    private static RowBinaryReader reader(Schema schema, SpecificRecord... rows) {
        RowBinaryEncoder encoder = new RowBinaryEncoder("t", schema);
        RowBinaryBuffer out = new RowBinaryBuffer(64);
        for (SpecificRecord row : rows) {
            encoder.encode(row, 42, out);
        }
        return new RowBinaryReader(encoder.layout(), out.toByteArray());
    }
}
