package io.tailrace.cli.command;

import io.tailrace.cli.digest.render.AnsiStyle;
import io.tailrace.cli.terminal.Terminal;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The option {@code --color} of the commands that write reports to a terminal. */
final class ColorOption {

    /** The values, for completion. */
    static final class Times extends ArrayList<String> {

        private static final long serialVersionUID = 1L;

        Times() {
            super(List.of("auto", "always", "never"));
        }
    }

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = "--color",
            defaultValue = "auto",
            paramLabel = "WHEN",
            completionCandidates = Times.class,
            description = "always, never or auto: on a terminal, unless NO_COLOR is set. Default: ${DEFAULT-VALUE}.")
    private String when;

    /** @throws CommandLine.ParameterException if the option has none of its three values */
    AnsiStyle style(Terminal terminal) {
        return switch (when) {
            case "always" -> AnsiStyle.COLOURED;
            case "never" -> AnsiStyle.PLAIN;
            case "auto" -> terminal.screen().out() && terminal.screen().colours()
                    ? AnsiStyle.COLOURED
                    : AnsiStyle.PLAIN;
            default -> throw new CommandLine.ParameterException(
                    command.commandLine(), "--color expects always, never or auto, found " + when);
        };
    }
}
