package io.tailrace.flink.clickhouse;

import io.tailrace.flink.runtime.ConfigParser;
import io.tailrace.flink.runtime.ConfigurationException;
import io.tailrace.flink.runtime.SharedJobOptions;
import java.io.IOException;
import java.io.Serializable;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The address and the credentials of ClickHouse.
 *
 * @param url HTTP or HTTPS address, such as {@code http://127.0.0.1:8123}
 * @param user a user with the privilege INSERT; SELECT is not needed
 * @param passwordFile file with the user's password; empty for none. It is read at every insert, so that the password
 *     can change while the job runs
 * @param authorityFile file in PEM format with the certificates of the authorities that may have signed ClickHouse's
 *     certificate; empty for those of the Java runtime
 */
public record ClickHouseConnection(URI url, String user, String passwordFile, String authorityFile)
        implements Serializable {

    /** A connection that trusts the authorities of the Java runtime. */
    public ClickHouseConnection(URI url, String user, String passwordFile) {
        this(url, user, passwordFile, "");
    }

    /**
     * Returns the connection of the keys {@code clickhouse.*} of a job.
     *
     * @throws ConfigurationException if the address or the user cannot be used
     */
    public static ClickHouseConnection of(ConfigParser values) {
        return new ClickHouseConnection(
                values.httpAddress(SharedJobOptions.CLICKHOUSE_URL),
                values.notEmpty(SharedJobOptions.CLICKHOUSE_USER),
                values.text(SharedJobOptions.CLICKHOUSE_PASSWORD_FILE),
                values.text(SharedJobOptions.CLICKHOUSE_CA_FILE));
    }

    /** @throws IOException if the password file cannot be read; the message names the file */
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
