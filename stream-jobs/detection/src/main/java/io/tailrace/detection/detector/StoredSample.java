package io.tailrace.detection.detector;

import java.io.ByteArrayInputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * A sample of state, in the layout of {@link AlertSample#write}. Its texts are decoded only for an alert, because an
 * engine may read and write the state for each event.
 */
public final class StoredSample {

    private final long micros;
    /** Null if the texts are encoded. */
    private final AlertSample sample;
    /** Both texts as {@link DataOutput#writeUTF} writes them; null if they are decoded. */
    private final byte[] texts;

    private StoredSample(long micros, AlertSample sample, byte[] texts) {
        this.micros = micros;
        this.sample = sample;
        this.texts = texts;
    }

    /** @param sample with texts that are short enough for state */
    public static StoredSample of(AlertSample sample) {
        return new StoredSample(sample.micros(), sample, null);
    }

    /** Returns the sample. */
    public AlertSample sample() {
        if (sample != null) {
            return sample;
        }
        try {
            DataInput in = new DataInputStream(new ByteArrayInputStream(texts));
            return new AlertSample(micros, in.readUTF(), in.readUTF());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes the same bytes as {@link AlertSample#write}. */
    public void write(DataOutput out) throws IOException {
        if (sample != null) {
            sample.write(out);
            return;
        }
        out.writeLong(micros);
        out.write(texts);
    }

    /** Reads the output of {@link #write}. */
    public static StoredSample read(DataInput in) throws IOException {
        long micros = in.readLong();
        byte[] id = new byte[in.readUnsignedShort()];
        in.readFully(id);
        int length = in.readUnsignedShort();
        byte[] texts = new byte[2 * Short.BYTES + id.length + length];
        putLength(texts, 0, id.length);
        System.arraycopy(id, 0, texts, Short.BYTES, id.length);
        putLength(texts, Short.BYTES + id.length, length);
        in.readFully(texts, texts.length - length, length);
        return new StoredSample(micros, null, texts);
    }

    private static void putLength(byte[] texts, int at, int length) {
        texts[at] = (byte) (length >>> Byte.SIZE);
        texts[at + 1] = (byte) length;
    }
}
