package io.tailrace.cli.terminal;

import java.io.InputStream;
import java.io.PrintStream;

/**
 * Where a command reads and writes: results go to {@code out}, all that is said about them to {@code err}.
 *
 * @param in standard input
 * @param out results
 * @param err notes
 * @param screen what shows them
 */
public record Terminal(InputStream in, PrintStream out, PrintStream err, TerminalCapabilities screen) {

    public void note(String text) {
        err.println(text);
    }
}
