package io.tailrace.cli.input;

import com.github.luben.zstd.ZstdInputStream;
import io.tailrace.reassembly.LogId;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/**
 * A file on the command line: plain, gzip or Zstandard (detected by its first bytes), or {@code -} for standard input.
 */
public record LogFile(String name) {

    public static final String STANDARD_INPUT = "-";
    private static final int BUFFER = 1 << 16;
    /** Window size in bits of frames that were written with {@code zstd --long=31}. */
    private static final int MAX_WINDOW = 31;

    /** Returns the decompressed bytes of {@code raw}, the stored bytes, which a progress bar counts. */
    public InputStream open(InputStream raw) throws IOException {
        BufferedInputStream in = new BufferedInputStream(raw, BUFFER);
        in.mark(4);
        byte[] magic = in.readNBytes(4);
        in.reset();
        if (starts(magic, 0x1f, 0x8b)) {
            return new GZIPInputStream(in, BUFFER);
        }
        if (starts(magic, 0x28, 0xb5, 0x2f, 0xfd)) {
            return new ZstdInputStream(in).setLongMax(MAX_WINDOW);
        }
        String packer = starts(magic, 'B', 'Z', 'h') ? "bzip2" : starts(magic, 0xfd, '7', 'z', 'X') ? "xz" : "";
        if (!packer.isEmpty()) {
            throw new IOException(packer + " files are not supported; pass the decompressed output: " + packer
                    + " -dc FILE | tailrace … -");
        }
        return in;
    }

    /** Returns the stored bytes. */
    public InputStream raw(InputStream standardInput) throws IOException {
        if (isStandardInput()) {
            return standardInput;
        }
        Path path = Path.of(name);
        if (Files.isDirectory(path)) {
            throw new IOException("is a directory; name its files: " + path.resolve("*"));
        }
        return Files.newInputStream(path);
    }

    /** Returns the stored size in bytes; -1 if it is unknown. */
    public long size() {
        try {
            return isStandardInput() ? -1 : Files.size(Path.of(name));
        } catch (IOException e) {
            return -1;
        }
    }

    private static boolean starts(byte[] bytes, int... magic) {
        for (int i = 0; i < magic.length; i++) {
            if (i == bytes.length || (bytes[i] & 0xff) != magic[i]) {
                return false;
            }
        }
        return true;
    }

    /** Returns the path that identifies the log of the file: absolute, without rotation suffix. */
    public String canonicalPath() {
        return isStandardInput()
                ? name
                : LogId.canonicalPath(Path.of(name).toAbsolutePath().normalize().toString());
    }

    public boolean isStandardInput() {
        return STANDARD_INPUT.equals(name);
    }
}
