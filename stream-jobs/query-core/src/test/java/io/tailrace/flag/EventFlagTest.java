package io.tailrace.flag;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

/** The flags of {@link EventFlag}, those of the schemas, of the docs, and of the golden events are the same. */
class EventFlagTest {

    /** Maven runs the tests of a module in its directory. */
    private static final Path DOCS = Path.of("../../docs");

    private static final Path MODULES = Path.of("..");
    private static final Path GOLDEN = Path.of("src/test/resources/golden");

    private static final Map<Class<?>, Schema> SCHEMAS = Map.of(
            QueryEvent.class, QueryEvent.getClassSchema(),
            AuditEvent.class, AuditEvent.getClassSchema(),
            ErrorEvent.class, ErrorEvent.getClassSchema());
    private static final Map<String, Class<?>> NAMED =
            Map.of("query", QueryEvent.class, "audit", AuditEvent.class, "error", ErrorEvent.class);

    private static final Pattern WIRE_NAME = Pattern.compile("[a-z]+(?:_[a-z]+)*");
    private static final Pattern IN_BACKTICKS = Pattern.compile("`([^`]*)`");
    private static final Pattern IN_PARENTHESES = Pattern.compile(" \\([^)]*\\)");
    private static final Pattern GOLDEN_FLAGS = Pattern.compile("\"flags\":\\[([^\\]]*)]");

    @Test
    void wireNamesAreUnique() {
        List<String> names =
                Arrays.stream(EventFlag.values()).map(EventFlag::wireName).toList();
        assertThat(names)
                .doesNotHaveDuplicates()
                .allMatch(name -> WIRE_NAME.matcher(name).matches());
    }

    @Test
    void schemasListTheFlagsOfTheirEvents() {
        SCHEMAS.forEach(
                (event, schema) -> assertThat(inDoc(schema.getField("flags").doc()))
                        .as(schema.getName())
                        .isEqualTo(of(event)));
    }

    @Test
    void formatsPageListsTheFlagsOfAllEvents() throws IOException {
        Map<Class<?>, TreeSet<String>> found =
                new TreeMap<>((a, b) -> a.getName().compareTo(b.getName()));
        for (String[] cells : rows("FORMATS.md", "## Flags")) {
            for (String event : cells[2].strip().split(", ")) {
                found.computeIfAbsent(NAMED.get(event), absent -> new TreeSet<>())
                        .addAll(inBackticks(cells[1]));
            }
        }
        SCHEMAS.keySet()
                .forEach(event ->
                        assertThat(found.get(event)).as(event.getSimpleName()).isEqualTo(of(event)));
    }

    @Test
    void fingerprintPageExplainsTheFlagsOfLiterals() throws IOException {
        TreeSet<String> explained = new TreeSet<>();
        for (String[] cells : rows("FINGERPRINT.md", "## Flags that describe literals")) {
            explained.addAll(inBackticks(cells[1]));
        }
        TreeSet<String> referred = new TreeSet<>();
        for (String[] cells : rows("FORMATS.md", "## Flags")) {
            if (cells[3].contains("FINGERPRINT.md")) {
                referred.addAll(inBackticks(cells[1]));
            }
        }
        assertThat(referred).hasSizeGreaterThan(EventFlagFamily.values().length);
        assertThat(explained).containsAll(referred);
        explained.removeAll(referred);
        // Values of settings, and examples with columns of the performance schema.
        assertThat(explained)
                .allMatch(name -> EventFlagFamily.SETTING.matches(name)
                        || EventFlagFamily.SETTING.matches(EventFlagFamily.setting("general_log", name)));
    }

    /** An event with a flag that its class does not have would be missing in the schemas and docs. */
    @Test
    void goldenEventsHaveFlagsOfTheirClass() throws IOException {
        TreeSet<String> found = new TreeSet<>();
        try (Stream<Path> files = Files.walk(GOLDEN)) {
            for (Path file :
                    files.filter(path -> path.endsWith("expected.json")).toList()) {
                Class<?> event = event(GOLDEN.relativize(file).getName(0).toString());
                TreeSet<String> flags = golden(Files.readString(file));
                found.addAll(flags);
                flags.removeIf(EventFlagFamily.DYNAMIC::matches);
                flags.removeIf(EventFlagFamily.SETTING::matches);
                assertThat(of(event)).as(file.toString()).containsAll(flags);
            }
        }
        assertThat(found).hasSizeGreaterThan(10);
    }

    @Test
    void noOtherProductionCodeSpellsAWireName() throws IOException {
        List<String> names = Arrays.stream(EventFlag.values())
                .map(flag -> '"' + flag.wireName() + '"')
                .toList();
        List<String> spelled = new ArrayList<>();
        for (Path file : productionCode()) {
            String code = Files.readString(file);
            names.stream().filter(code::contains).forEach(name -> spelled.add(file.getFileName() + ": " + name));
        }
        assertThat(spelled).hasSize(EventFlag.values().length).allMatch(place -> place.startsWith("EventFlag.java: "));
    }

    @Test
    void namesOfFamiliesMatchThem() {
        assertThat(EventFlagFamily.dynamic(List.of("drop", "table"))).isEqualTo("dynamic_drop_table");
        assertThat(EventFlagFamily.DYNAMIC.matches("dynamic_drop_table")).isTrue();
        assertThat(EventFlagFamily.setting("max_connections", "e3")).isEqualTo("max_connections=e3");
        assertThat(EventFlagFamily.SETTING.matches("max_connections=e3")).isTrue();
        assertThat(EventFlagFamily.SETTING.matches("max_connections=5")).isFalse();
    }

    private static List<Path> productionCode() throws IOException {
        try (Stream<Path> files = Files.find(
                MODULES,
                Integer.MAX_VALUE,
                (path, attributes) -> path.toString().contains("/src/main/java/")
                        && path.toString().endsWith(".java"))) {
            return files.toList();
        }
    }

    /** Returns the wire names and families that events of a class can have. */
    private static TreeSet<String> of(Class<?> event) {
        TreeSet<String> names = new TreeSet<>();
        for (EventFlag flag : EventFlag.values()) {
            if (flag.isOf(event)) {
                names.add(flag.wireName());
            }
        }
        if (event != ErrorEvent.class) {
            for (EventFlagFamily family : EventFlagFamily.values()) {
                names.add(family.template());
            }
        }
        return names;
    }

    /** Returns the names in a schema: sentences of names with commas, the second one after a colon. */
    private static TreeSet<String> inDoc(String doc) {
        TreeSet<String> names = new TreeSet<>();
        String list = IN_PARENTHESES.matcher(doc).replaceAll("");
        for (String sentence : list.substring(0, list.indexOf(". docs/")).split("\\. ")) {
            names.addAll(List.of(
                    sentence.substring(sentence.indexOf(": ") + 1).strip().split(", ")));
        }
        return names;
    }

    /** Returns the cells of the table after a heading, without its own heading; the first cell is empty. */
    private static List<String[]> rows(String page, String heading) throws IOException {
        List<String[]> rows = new ArrayList<>();
        List<String> lines = Files.readAllLines(DOCS.resolve(page));
        for (int i = lines.indexOf(heading) + 1; !lines.get(i).startsWith("#"); i++) {
            if (lines.get(i).startsWith("| `")) {
                rows.add(lines.get(i).split("\\|"));
            }
        }
        return rows;
    }

    private static TreeSet<String> inBackticks(String cell) {
        TreeSet<String> names = new TreeSet<>();
        for (Matcher name = IN_BACKTICKS.matcher(cell); name.find(); ) {
            names.add(name.group(1));
        }
        return names;
    }

    private static TreeSet<String> golden(String events) {
        TreeSet<String> names = new TreeSet<>();
        for (Matcher flags = GOLDEN_FLAGS.matcher(events); flags.find(); ) {
            if (!flags.group(1).isEmpty()) {
                names.addAll(List.of(flags.group(1).replace("\"", "").split(",")));
            }
        }
        return names;
    }

    private static Class<?> event(String format) {
        return switch (format) {
            case "mysql-slow" -> QueryEvent.class;
            case "mysql-error" -> ErrorEvent.class;
            default -> AuditEvent.class;
        };
    }
}
