package io.tailrace.cli.help;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.cli.HelpJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The help of Java commands is the one that the Python code prints for them. */
class HelpRendererTest {

    private static final Path REPOSITORY = Path.of("../..");
    /** Its subcommand {@code push} is a Python command, which only the Python code lists. */
    private static final String WITH_PYTHON_SUBCOMMAND = "rules";

    private static Stream<CommandDescription> all(CommandDescription command) {
        return Stream.concat(Stream.of(command), command.subcommands().stream().flatMap(HelpRendererTest::all));
    }

    @Test
    void thePythonCodeHasTheSameDescriptions() throws IOException {
        ObjectMapper json = new ObjectMapper();
        String file = Files.readString(REPOSITORY.resolve("embedded/tailrace/cli/help/java_commands.json"));
        assertThat(json.readTree(file)).as("run: make cli-reference").isEqualTo(json.readTree(HelpJson.all()));
    }

    @Test
    void thePythonCodeRendersTheSameText() throws IOException {
        String page = Files.readString(REPOSITORY.resolve("docs/CLI.md"));
        List<CommandDescription> commands = HelpJson.descriptions().stream()
                .flatMap(HelpRendererTest::all)
                .filter(command -> !command.name().equals(WITH_PYTHON_SUBCOMMAND))
                .toList();
        assertThat(commands).hasSize(9);
        for (CommandDescription command : commands) {
            assertThat(page)
                    .as("run: make cli-reference")
                    .contains("```text\n" + HelpRenderer.render(command, HelpRenderer.WIDTH) + "```\n");
        }
    }

    @Test
    void aNarrowTerminalGetsNarrowLines() {
        CommandDescription command = HelpJson.descriptions().get(0);
        String options = HelpRenderer.render(command, 60).replaceFirst("(?s)\nExamples:.*", "");
        assertThat(options.lines()).allMatch(line -> line.length() <= 60);
    }

    @Test
    void similarNamesAreSuggested() {
        assertThat(Suggestion.unknown("option", "--limt", List.of("--html", "--limit")))
                .isEqualTo("there is no option '--limt'; did you mean '--limit'?");
        assertThat(Suggestion.unknown("option", "--zzzzzz", List.of("--html", "--limit")))
                .isEqualTo("there is no option '--zzzzzz'");
    }
}
