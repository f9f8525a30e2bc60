package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.record.ProtocolCommand;
import io.tailrace.event.AuditEvent;
import io.tailrace.framing.FramedLog;
import io.tailrace.testing.Contract;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A command has the same event class in every format that names commands of the protocol. */
class ProtocolCommandTest {

    private static final String GENERAL_LOG = "mysql-general";
    private static final String MCAFEE = "mcafee-audit-json";

    /** The kinds of logs whose events have a command. */
    private static final Set<String> KINDS = Set.of("audit", "general");

    /**
     * Formats of these kinds that name no command of the protocol: logs of statements only, and MariaDB's plugin, which
     * names operations of its own.
     */
    private static final Set<String> WITHOUT_COMMANDS = Set.of("mariadb-audit", "mariadb-audit-syslog", "aurora-audit");

    private record Command(String name, String eventClass, boolean statement, boolean ofServer) {}

    private static List<Command> commands() throws IOException {
        return Contract.cases("protocol_command").stream()
                .map(ProtocolCommandTest::command)
                .toList();
    }

    private static Command command(Map<String, Object> contractCase) {
        return new Command(
                (String) contractCase.get("name"),
                (String) contractCase.get("event_class"),
                (Boolean) contractCase.get("statement"),
                contractCase.get("writer").equals("server"));
    }

    private static Stream<LogWriter> writers() {
        return LogWriter.all().stream()
                .filter(writer -> KINDS.contains(FormatRegistry.sourceOf(writer.logFormat())))
                .filter(writer -> !WITHOUT_COMMANDS.contains(writer.format()));
    }

    @Test
    void theContractListsEveryCommand() throws IOException {
        Map<String, ProtocolCommand> byName = Arrays.stream(ProtocolCommand.values())
                .collect(Collectors.toMap(each -> each.wireName(), each -> each));
        assertThat(commands()).extracting(Command::name).containsExactlyInAnyOrderElementsOf(byName.keySet());
        for (Command command : commands()) {
            ProtocolCommand found = byName.get(command.name());
            assertThat(found.eventClass()).as(command.name()).isEqualTo(command.eventClass());
            assertThat(found.hasStatement()).as(command.name()).isEqualTo(command.statement());
        }
    }

    @Test
    void anUnknownCommandCountsAsAStatement() {
        assertThat(ProtocolCommand.eventClassOf("Made Up")).isEqualTo("query");
    }

    @ParameterizedTest
    @MethodSource("writers")
    void aCommandHasOneClassInEveryFormat(LogWriter writer) throws IOException {
        for (Command command : commands()) {
            if (isLogged(writer.format(), command)) {
                assertThat(classIn(writer, command.name())).as(command.name()).isEqualTo(command.eventClass());
            }
        }
    }

    /**
     * McAfee's plugin writes the classes of statements in lower case, so {@code clone} is a statement there. Records in
     * CSV begin with a name of letters and blanks; only MariaDB, which writes no CSV, has the command {@code
     * Bulk_execute}.
     */
    private static boolean isLogged(String format, Command command) {
        return switch (format) {
            case GENERAL_LOG -> command.ofServer();
            case MCAFEE -> Character.isUpperCase(command.name().charAt(0));
            case "percona-audit-csv" -> !command.name().contains("_");
            default -> true;
        };
    }

    @Test
    void recordsOfAuditPluginsAreNoCommandsOfTheGeneralLog() throws IOException {
        LogWriter general = writers()
                .filter(each -> each.format().equals(GENERAL_LOG))
                .findFirst()
                .orElseThrow();
        List<Command> ofPlugins =
                commands().stream().filter(command -> !command.ofServer()).toList();
        assertThat(ofPlugins).isNotEmpty();
        for (Command command : ofPlugins) {
            List<Parsed.Outcome> found = Parsed.of(general.logFormat(), framed(general, command.name()));
            assertThat(found).as(command.name()).hasSize(1);
            assertThat(((AuditEvent) found.get(0).event()).getCommand()).isEqualTo("Quit");
        }
    }

    private static String classIn(LogWriter writer, String command) {
        List<Parsed.Outcome> outcomes = Parsed.of(writer.logFormat(), framed(writer, command));
        assertThat(outcomes).as(command).hasSize(2);
        AuditEvent event = (AuditEvent) outcomes.get(0).event();
        assertThat(event).as(command).isNotNull();
        boolean renamed =
                writer.format().equals(MCAFEE) && event.getEventClass().equals("query");
        assertThat(renamed ? event.getCommandClass() : event.getCommand()).isEqualTo(command);
        return event.getEventClass();
    }

    /** Frames a record of the command, and one that ends the connection: a statement of the general log ends there. */
    private static FramedLog framed(LogWriter writer, String command) {
        String file = record(writer, command) + record(writer, "Quit");
        return FramedLog.of(writer.logFormat(), file.getBytes(StandardCharsets.UTF_8));
    }

    private static String record(LogWriter writer, String command) {
        String query = writer.record().apply("SELECT 1");
        String written = writer.format().equals(MCAFEE) ? "select" : "Query";
        assertThat(query)
                .as(
                        "a record of %s that names the command %s. If the log names no commands, or only operations of its own,"
                                + " add the format to WITHOUT_COMMANDS",
                        writer, written)
                .contains(written);
        return query.replace(written, command);
    }
}
