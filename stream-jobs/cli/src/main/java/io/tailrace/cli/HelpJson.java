package io.tailrace.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.cli.help.CommandDescription;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.cli.terminal.TerminalCapabilities;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/**
 * Prints the descriptions of all commands as JSON for embedded/tailrace/cli/help/java_commands.json, from which the
 * Python code makes help, completion and manual pages. {@code make cli-reference} runs it.
 */
public final class HelpJson {

    private HelpJson() {}

    public static void main(String[] arguments) {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        out.print(all());
        out.flush();
    }

    /** Returns the descriptions of all commands in the order of their declaration. */
    public static List<CommandDescription> descriptions() {
        Terminal none = new Terminal(System.in, System.out, System.err, TerminalCapabilities.NONE);
        return Main.commandLine(none, Clock.systemUTC()).getSubcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .map(CommandDescription::of)
                .toList();
    }

    /** Returns the file's content. */
    public static String all() {
        DefaultPrettyPrinter printer = new DefaultPrettyPrinter();
        printer.indentArraysWith(new DefaultIndenter("  ", "\n"));
        try {
            List<Map<String, Object>> commands =
                    descriptions().stream().map(HelpJson::json).toList();
            return new ObjectMapper().writer(printer).writeValueAsString(commands) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<String, Object> json(CommandDescription command) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", command.name());
        json.put("purpose", command.purpose());
        json.put("details", command.details());
        json.put("arguments", command.arguments());
        json.put("options", command.options());
        json.put(
                "subcommands",
                command.subcommands().stream().map(HelpJson::json).toList());
        json.put("keys", command.keys());
        json.put("examples", command.examples());
        json.put("exit_codes", command.exitCodes());
        json.put("see_also", command.seeAlso());
        return json;
    }
}
