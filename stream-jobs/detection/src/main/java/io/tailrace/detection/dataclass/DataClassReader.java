package io.tailrace.detection.dataclass;

import io.tailrace.detection.sigma.yaml.RuleError;
import io.tailrace.detection.sigma.yaml.YamlDocuments;
import io.tailrace.detection.sigma.yaml.YamlMap;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * Compiles the file of data classes. A file is accepted or rejected as a whole, because a missing class would make
 * sensitive data appear harmless.
 */
public final class DataClassReader {

    private static final Set<String> SECTIONS = Set.of("classes", "views", "routines", "unresolved");
    private static final Set<String> CLASS_KEYS = Set.of("description", "patterns", "exclude", "confirmed");
    private static final Set<String> CONFIRMATION_KEYS = Set.of("patterns", "since", "by");
    private static final Set<String> ROUTINE_KEYS = Set.of("reads", "writes");
    private static final int MAX_CLASS_NAME_LENGTH = 64;
    private static final int MAX_VIEW_DEPTH = 32;

    private final String file;
    private final List<DataClass> classes = new ArrayList<>();
    private final Map<String, List<DataReference>> views = new LinkedHashMap<>();
    private final Map<String, Node> viewNodes = new HashMap<>();
    private final Map<String, StoredRoutine> routines = new LinkedHashMap<>();
    private final List<DataPattern> unresolved = new ArrayList<>();
    private boolean read;

    private DataClassReader(String file) {
        this.file = file;
    }

    /**
     * Reads a file; an empty one has no classes.
     *
     * @param file name of the file, for errors
     * @param errors receives the reasons of a rejection; the result then has no classes
     */
    public static DataClasses read(String file, String yaml, Consumer<RuleError> errors) {
        DataClassReader reader = new DataClassReader(file);
        List<RuleError> found = new ArrayList<>();
        YamlDocuments.read(file, yaml, reader::document, found::add);
        found.forEach(errors);
        return found.isEmpty()
                ? new DataClasses(reader.classes, reader.views, reader.routines, reader.unresolved)
                : DataClasses.NONE;
    }

    private void document(YamlMap document) {
        if (read) {
            throw document.refusal(document.node(), "the file is expected to hold one document");
        }
        read = true;
        refuseUnknown(document, SECTIONS, "the file");
        classes(document.map("classes", "the file"));
        section(document, "views").ifPresent(this::views);
        section(document, "routines").ifPresent(this::routines);
        for (Node node : document.list("unresolved")) {
            unresolved.add(tables(node, "unresolved"));
        }
    }

    private Optional<YamlMap> section(YamlMap document, String key) {
        return document.get(key).filter(node -> !isEmpty(node)).map(node -> YamlMap.of(file, node, key));
    }

    private static boolean isEmpty(Node node) {
        return node instanceof ScalarNode scalar && scalar.getValue().isEmpty();
    }

    private static void refuseUnknown(YamlMap map, Set<String> known, String what) {
        for (String key : map.keys()) {
            if (!known.contains(key)) {
                throw map.refusal(
                        map.keyNode(key),
                        what + " has no " + key + "; it may have " + String.join(", ", new TreeSet<>(known)));
            }
        }
    }

    private void classes(YamlMap map) {
        for (String name : map.keys()) {
            if (name.isEmpty() || name.length() > MAX_CLASS_NAME_LENGTH || !isPlain(name)) {
                throw map.refusal(
                        map.keyNode(name),
                        "the name of a class is expected to be 1 to " + MAX_CLASS_NAME_LENGTH
                                + " small letters, digits, - and _, found " + name);
            }
            YamlMap body = map.map(name, "classes");
            refuseUnknown(body, CLASS_KEYS, "a class");
            List<DataPattern> patterns = patterns(body, "patterns");
            if (patterns.isEmpty()) {
                throw map.refusal(map.keyNode(name), "the class " + name + " has no patterns");
            }
            classes.add(new DataClass(name, patterns, patterns(body, "exclude")));
            checkConfirmations(body);
        }
    }

    /** Who confirmed which patterns is for people: the classification ignores it. */
    private void checkConfirmations(YamlMap body) {
        Set<String> listed = new HashSet<>(body.texts("patterns"));
        listed.addAll(body.texts("exclude"));
        for (Node node : body.list("confirmed")) {
            YamlMap confirmation = YamlMap.of(file, node, "confirmed");
            refuseUnknown(confirmation, CONFIRMATION_KEYS, "a confirmation");
            CONFIRMATION_KEYS.stream().sorted().forEach(key -> confirmation.require(key, "a confirmation"));
            String since = confirmation.text("since");
            if (!isDay(since)) {
                throw confirmation.refusal(
                        confirmation.keyNode("since"),
                        "since is expected to be a day such as 2026-11-27, found " + since);
            }
            if (confirmation.text("by").isBlank()) {
                throw confirmation.refusal(confirmation.keyNode("by"), "by is expected to name a person");
            }
            for (String pattern : confirmation.texts("patterns")) {
                if (!listed.contains(pattern)) {
                    throw confirmation.refusal(
                            confirmation.keyNode("patterns"), "the class does not list the pattern " + pattern);
                }
            }
        }
    }

    private static boolean isDay(String text) {
        try {
            return LocalDate.parse(text).getYear() > 0;
        } catch (DateTimeParseException e) {
            return false;
        }
    }

    private static boolean isPlain(String name) {
        return name.chars().allMatch(c -> c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_');
    }

    private List<DataPattern> patterns(YamlMap body, String key) {
        List<DataPattern> patterns = new ArrayList<>();
        for (Node node : body.list(key)) {
            patterns.add(pattern(node, key));
        }
        return patterns;
    }

    private DataPattern pattern(Node node, String key) {
        List<String> parts = parts(node, key, 3);
        NamePattern column =
                parts.size() == 3 ? new NamePattern(FingerprintColumnNames.inFingerprints(parts.get(2))) : null;
        return new DataPattern(new NamePattern(parts.get(0)), new NamePattern(parts.get(1)), column);
    }

    private DataPattern tables(Node node, String key) {
        List<String> parts = parts(node, key, 2);
        return new DataPattern(new NamePattern(parts.get(0)), new NamePattern(parts.get(1)), null);
    }

    /** Returns the parts of {@code database.table} or, if three parts are allowed, {@code database.table.column}. */
    private List<String> parts(Node node, String key, int limit) {
        String expected = limit == 3 ? "database.table or database.table.column" : "database.table";
        if (!(node instanceof ScalarNode scalar)) {
            throw YamlMap.refusal(file, node, key + " is expected to list texts such as " + expected);
        }
        List<String> parts = QualifiedName.parts(scalar.getValue(), limit + 1);
        boolean tooLong = scalar.getValue().length() > 3 * QualifiedName.MAX_LENGTH;
        if (parts.size() < 2 || parts.size() > limit || parts.contains("") || tooLong) {
            throw YamlMap.refusal(
                    file,
                    node,
                    "expected " + expected + ", with the wildcards * and ?, found "
                            + (tooLong ? "a text that is too long" : scalar.getValue()));
        }
        return parts;
    }

    private void views(YamlMap map) {
        for (String name : map.keys()) {
            List<String> parts = exactParts(map, name);
            String key = QualifiedName.key(parts.get(0), parts.get(1));
            if (views.put(key, targets(map, name)) != null) {
                throw map.refusal(map.keyNode(name), "the view " + name + " is defined twice");
            }
            viewNodes.put(key, map.keyNode(name));
        }
        views.keySet().forEach(view -> refuseCircle(view, view, new HashSet<>(), 0));
    }

    private List<String> exactParts(YamlMap map, String name) {
        List<String> parts = parts(map.keyNode(name), "a name", 2);
        if (parts.stream().anyMatch(part -> new NamePattern(part).hasWildcards())) {
            throw map.refusal(map.keyNode(name), "expected a name without * and ?, found " + name);
        }
        return parts;
    }

    private void refuseCircle(String start, String view, Set<String> seen, int depth) {
        if (depth > MAX_VIEW_DEPTH) {
            throw YamlMap.refusal(
                    file,
                    viewNodes.get(start),
                    "views are expected to read each other at most " + MAX_VIEW_DEPTH + " deep");
        }
        for (DataReference target : views.getOrDefault(view, List.of())) {
            String next = QualifiedName.key(target.database(), target.table());
            if (next.equals(start)) {
                throw YamlMap.refusal(file, viewNodes.get(start), "the view " + start + " reads itself");
            }
            if (seen.add(next)) {
                refuseCircle(start, next, seen, depth + 1);
            }
        }
    }

    private List<DataReference> targets(YamlMap map, String key) {
        List<DataReference> targets = new ArrayList<>();
        for (Node node : map.list(key)) {
            if (!isEmpty(node)) {
                targets.add(target(node, key));
            }
        }
        return targets;
    }

    private DataReference target(Node node, String key) {
        List<String> parts = parts(node, key, 3);
        if (parts.stream().anyMatch(part -> new NamePattern(part).hasWildcards())) {
            throw YamlMap.refusal(file, node, "expected a name without * and ?");
        }
        return new DataReference(
                parts.get(0),
                parts.get(1),
                parts.size() == 3 ? FingerprintColumnNames.inFingerprints(parts.get(2)) : "");
    }

    /** A list contains what the routine reads. */
    private void routines(YamlMap map) {
        for (String name : map.keys()) {
            List<String> parts = exactParts(map, name);
            Node body = map.get(name).orElseThrow();
            StoredRoutine routine;
            if (body instanceof MappingNode) {
                YamlMap halves = map.map(name, "routines");
                refuseUnknown(halves, ROUTINE_KEYS, "a routine");
                routine = new StoredRoutine(targets(halves, "reads"), targets(halves, "writes"));
            } else if (body instanceof SequenceNode || isEmpty(body)) {
                routine = new StoredRoutine(targets(map, name), List.of());
            } else {
                throw map.refusal(body, "a routine is expected to be a list of tables, or reads and writes");
            }
            if (routines.put(QualifiedName.key(parts.get(0), parts.get(1)), routine) != null) {
                throw map.refusal(map.keyNode(name), "the routine " + name + " is defined twice");
            }
        }
    }
}
