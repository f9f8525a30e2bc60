package io.tailrace.cli.command;

import io.tailrace.cli.terminal.TerminalSanitizer;
import io.tailrace.json.AvroJsonWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The option {@code --output} of a command that prints rows, and its three forms. */
final class OutputOption {

    private static final String TABLE = "table";
    private static final String JSON = "json";
    private static final String CSV = "csv";
    /** RFC 4180 ends each record with it. */
    private static final String CSV_END = "\r\n";

    /** The values, for completion. */
    static final class Forms extends ArrayList<String> {

        private static final long serialVersionUID = 1L;

        Forms() {
            super(List.of(TABLE, JSON, CSV));
        }
    }

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = "--output",
            defaultValue = TABLE,
            paramLabel = "FORMAT",
            completionCandidates = Forms.class,
            description = "Form of the output: table, json (one object per line) or csv. Default: ${DEFAULT-VALUE}.")
    private String form;

    /** @throws CommandLine.ParameterException if the option has none of its three values */
    void check() {
        if (!new Forms().contains(form)) {
            throw new CommandLine.ParameterException(
                    command.commandLine(), "--output expects table, json or csv, found " + form);
        }
    }

    boolean isTable() {
        return TABLE.equals(form);
    }

    /** Returns the line before the rows; empty if the form has none. */
    String header(List<String> keys) {
        return CSV.equals(form) ? csv(keys) : "";
    }

    /** Returns a row with its end of line; in a table, tabs separate the values. */
    String row(List<String> keys, List<String> values) {
        return switch (form) {
            case JSON -> json(keys, values);
            case CSV -> csv(values);
            default -> line(values);
        };
    }

    /** Returns a row of a table with its end of line; a value cannot control the terminal. */
    static String line(List<String> values) {
        return values.stream().map(TerminalSanitizer::text).collect(Collectors.joining("\t", "", "\n"));
    }

    private static String json(List<String> keys, List<String> values) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < keys.size(); i++) {
            AvroJsonWriter.quote(keys.get(i), out.append(i == 0 ? '{' : ','));
            AvroJsonWriter.quote(values.get(i), out.append(':'));
        }
        return out.append("}\n").toString();
    }

    private static String csv(List<String> values) {
        return values.stream().map(OutputOption::field).collect(Collectors.joining(",", "", CSV_END));
    }

    private static String field(String value) {
        boolean plain = value.chars().noneMatch(sign -> sign == ',' || sign == '"' || sign == '\r' || sign == '\n');
        return plain ? value : '"' + value.replace("\"", "\"\"") + '"';
    }
}
