package io.tailrace.cli.help;

import java.lang.reflect.AnnotatedElement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The sections of a command's help, read from its declaration. The Python module tailrace.cli.help.model has the same.
 *
 * @param name the command's words without {@code tailrace}, such as {@code rules check}
 * @param purpose one sentence
 * @param details paragraphs
 * @param keys the meaning of each key of a row, for commands with {@code --output}
 */
public record CommandDescription(
        String name,
        String purpose,
        List<String> details,
        List<Value> arguments,
        List<Value> options,
        List<CommandDescription> subcommands,
        Map<String, String> keys,
        List<String> examples,
        Map<String, String> exitCodes,
        List<String> seeAlso) {

    private static final String PROGRAM = "tailrace";
    private static final String HELP = "--help";
    private static final String VERSION = "--version";

    /**
     * An option or an argument.
     *
     * @param names the names of an option, or the placeholder of an argument
     * @param placeholder the placeholder of an option's value; empty for a switch
     * @param kind {@code file} for the name of a file, otherwise empty
     */
    public record Value(
            List<String> names,
            String placeholder,
            String help,
            boolean required,
            boolean repeated,
            String kind,
            List<String> choices) {}

    /** Returns the description of a command with its subcommands. */
    public static CommandDescription of(CommandSpec command) {
        HelpTexts texts = ((AnnotatedElement) declaration(command)).getAnnotation(HelpTexts.class);
        List<String> description = List.of(command.usageMessage().description());
        return new CommandDescription(
                command.qualifiedName().substring(PROGRAM.length()).strip(),
                description.get(0),
                description.subList(1, description.size()),
                command.positionalParameters().stream()
                        .map(CommandDescription::argument)
                        .toList(),
                command.options().stream()
                        .filter(option -> !option.hidden())
                        .sorted(Comparator.comparingInt(CommandDescription::rank))
                        .map(CommandDescription::option)
                        .toList(),
                command.subcommands().values().stream()
                        .map(CommandLine::getCommandSpec)
                        .map(CommandDescription::of)
                        .toList(),
                texts == null ? Map.of() : keys(texts.keys()),
                texts == null ? List.of() : List.of(texts.examples()),
                command.usageMessage().exitCodeList(),
                texts == null ? List.of() : List.of(texts.seeAlso()));
    }

    private static Object declaration(CommandSpec command) {
        Object declared = command.userObject();
        return declared instanceof AnnotatedElement ? declared : declared.getClass();
    }

    private static Map<String, String> keys(String[] declared) {
        Map<String, String> keys = new LinkedHashMap<>();
        Arrays.stream(declared).map(key -> key.split(": ", 2)).forEach(key -> keys.put(key[0], key[1]));
        return keys;
    }

    /** The help comes first and the version last. */
    private static int rank(OptionSpec option) {
        List<String> names = List.of(option.names());
        return names.contains(HELP) ? 0 : names.contains(VERSION) ? 2 : 1;
    }

    private static Value option(OptionSpec option) {
        List<String> names = new ArrayList<>(List.of(option.names()));
        String placeholder = option.arity().max() == 0 ? "" : option.paramLabel();
        String help =
                switch (rank(option)) {
                    case 0 -> "Show this help and exit.";
                    case 2 -> "Print the version and exit.";
                    default -> help(option);
                };
        return new Value(names, placeholder, help, option.required(), false, kind(placeholder), choices(option));
    }

    private static Value argument(PositionalParamSpec argument) {
        boolean repeated = argument.arity().max() > 1;
        boolean required = argument.arity().min() > 0;
        String label = argument.paramLabel();
        return new Value(List.of(label), "", help(argument), required, repeated, kind(label), choices(argument));
    }

    private static String help(ArgSpec value) {
        return String.join(" ", value.description()).replace("${DEFAULT-VALUE}", String.valueOf(value.defaultValue()));
    }

    private static String kind(String placeholder) {
        return "FILE".equals(placeholder) || "PATH".equals(placeholder) ? "file" : "";
    }

    private static List<String> choices(ArgSpec value) {
        Iterable<String> candidates = value.completionCandidates();
        return candidates == null
                ? List.of()
                : StreamSupport.stream(candidates.spliterator(), false).toList();
    }

    /** Returns the lines of the section Usage. */
    List<String> usage() {
        if (!subcommands.isEmpty()) {
            return List.of(String.join(" ", PROGRAM, name, "SUBCOMMAND").replace("  ", " "));
        }
        List<String> words = new ArrayList<>(List.of(PROGRAM, name));
        options.stream()
                .filter(Value::required)
                .forEach(option -> words.add(option.names().get(option.names().size() - 1) + " " + option.placeholder));
        words.add("[OPTIONS]");
        arguments.forEach(argument -> words.add(inUsage(argument)));
        return List.of(String.join(" ", words));
    }

    private static String inUsage(Value argument) {
        String name = argument.names().get(0);
        if (argument.required()) {
            return argument.repeated() ? name + " [" + name + " …]" : name;
        }
        return argument.repeated() ? "[" + name + " …]" : "[" + name + "]";
    }
}
