package io.tailrace.cli.command;

import io.tailrace.cli.backtest.EventStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The options of the ClickHouse whose events are read. */
final class StoreOptions {

    @Option(
            names = "--clickhouse",
            paramLabel = "URL",
            description = "ClickHouse's HTTP address. Default: that of the running stack.")
    private String address;

    @Option(
            names = "--user",
            defaultValue = "reader_security",
            paramLabel = "NAME",
            description = "ClickHouse user, whose row policies apply. Default: ${DEFAULT-VALUE}.")
    private String user;

    @Option(
            names = "--password-file",
            paramLabel = "FILE",
            description = "File with the password of the user. Default: that of the running stack.")
    private Path passwordFile;

    /** Throws IOException if an option is missing, or the file cannot be read. */
    EventStore open() throws IOException {
        if (address == null) {
            throw new IOException("--clickhouse is missing: no stack is running");
        }
        String password =
                passwordFile == null ? "" : Files.readString(passwordFile).strip();
        return new EventStore(address, user, password);
    }
}
