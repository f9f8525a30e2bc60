package io.tailrace.cli.terminal;

import java.io.InputStream;
import java.io.PrintStream;

/**
 * The standard streams of a command: results go to {@code out}, notes about them to {@code err}.
 *
 * @param in standard input
 * @param out results
 * @param err notes
 * @param screen properties of the terminal
 */
public record Terminal(InputStream in, PrintStream out, PrintStream err, TerminalCapabilities screen) {

    /** Writes a note of one or several lines; what it quotes cannot control the terminal. */
    public void note(String text) {
        err.println(TerminalSanitizer.lines(text));
    }
}
