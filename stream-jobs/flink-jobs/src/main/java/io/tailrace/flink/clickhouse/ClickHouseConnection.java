package io.tailrace.flink.clickhouse;

import java.io.IOException;
import java.io.Serializable;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How to reach ClickHouse.
 *
 * @param url HTTP or HTTPS address, such as {@code http://127.0.0.1:8123}
 * @param user a user that may insert and need not read
 * @param passwordFile file that holds the user's password; empty for none. Read at every insert, so a
 *     password can be changed while the job runs
 */
public record ClickHouseConnection(URI url, String user, String passwordFile) implements Serializable {

    /** @throws IOException if the password file cannot be read; says which */
    String password() throws IOException {
        if (passwordFile.isEmpty()) {
            return "";
        }
        try {
            return Files.readString(Path.of(passwordFile)).strip();
        } catch (IOException e) {
            throw new IOException("cannot read clickhouse.password-file: " + e, e);
        }
    }
}
