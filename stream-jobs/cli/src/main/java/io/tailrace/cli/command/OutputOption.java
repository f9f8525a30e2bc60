package io.tailrace.cli.command;

import io.tailrace.cli.output.CsvRecords;
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

    @Option(names = "--json", description = "The same as --output json.")
    private boolean json;

    /** @throws CommandLine.ParameterException if the option has none of its three values */
    void check() {
        if (!new Forms().contains(form)) {
            throw new CommandLine.ParameterException(
                    command.commandLine(), "--output expects table, json or csv, found " + form);
        }
    }

    boolean isTable() {
        return TABLE.equals(form());
    }

    boolean isJson() {
        return JSON.equals(form());
    }

    boolean isCsv() {
        return CSV.equals(form());
    }

    private String form() {
        return json ? JSON : form;
    }

    /** Returns the line before the rows; empty if the form has none. */
    String header(List<String> keys) {
        return isCsv() ? CsvRecords.record(keys) : "";
    }

    /** Returns a row with its end of line; in a table, tabs separate the values. */
    String row(List<String> keys, List<String> values) {
        return switch (form()) {
            case JSON -> json(keys, values);
            case CSV -> CsvRecords.record(values);
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
}
