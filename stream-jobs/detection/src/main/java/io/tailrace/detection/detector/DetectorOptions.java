package io.tailrace.detection.detector;

import io.tailrace.detection.match.Expression;
import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.Timespan;
import io.tailrace.detection.sigma.search.SearchCompiler;
import io.tailrace.detection.sigma.yaml.RuleError;
import io.tailrace.detection.sigma.yaml.YamlMap;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.nodes.Node;

/** The settings of one detector in the file. A setting that the file omits has its default. */
public final class DetectorOptions {

    private static final long DAY = 86_400L * 1_000_000;
    private static final long DEFAULT_TTL_DAYS = 180;

    private final DetectorType kind;
    private final YamlMap map;
    private final RuleContext context;
    private final Set<String> known = new TreeSet<>(Set.of("enabled", "level", "exceptions", "ttl"));
    private final Map<String, RuleError> warnings = new TreeMap<>();

    public DetectorOptions(DetectorType kind, YamlMap map, RuleContext context) {
        this.kind = kind;
        this.map = map;
        this.context = context;
    }

    /** Returns whether the detector is enabled. */
    public boolean enabled() {
        return flag("enabled", true);
    }

    RuleHeader header() {
        return kind.header(level(), map.file(), line());
    }

    private int line() {
        return map.refusal(map.node(), "").error().line();
    }

    private Level level() {
        String written = map.text("level");
        if (written.isEmpty()) {
            return kind.level();
        }
        return Arrays.stream(Level.values())
                .filter(level -> level.name().equalsIgnoreCase(written))
                .findFirst()
                .orElseThrow(() -> map.refusal(
                        map.require("level", kind.fileKey()),
                        "a level is expected to be one of "
                                + Arrays.stream(Level.values())
                                        .map(level -> level.name().toLowerCase(Locale.ROOT))
                                        .collect(Collectors.joining(", "))
                                + ", found " + written));
    }

    /** Returns the key of the detector in the file. */
    public String detector() {
        return kind.fileKey();
    }

    /** Returns a condition for events that the detector ignores. */
    Expression exceptions() {
        return SearchCompiler.of(map, "exceptions", context);
    }

    /** Returns the searches of a map over events, by their keys; none if the file omits it. */
    public Map<String, Expression> searches(String key) {
        known.add(key);
        Map<String, Expression> found = new LinkedHashMap<>();
        if (map.has(key)) {
            YamlMap searches = map.map(key, key);
            searches.keys().forEach(name -> found.put(name, SearchCompiler.of(searches, name, context)));
        }
        return found;
    }

    /** Returns how long an entity without events is remembered, in microseconds. */
    long ttlMicros() {
        return timespan("ttl", DEFAULT_TTL_DAYS * DAY);
    }

    /** Returns a timespan in microseconds. */
    public long timespan(String key, long defaultMicros) {
        String written = text(key);
        if (written.isEmpty()) {
            return defaultMicros;
        }
        OptionalLong micros = Timespan.micros(written);
        return micros.orElseThrow(() -> refusal(key, Timespan.EXPECTED, written));
    }

    /** Returns a timespan of whole days in microseconds. */
    public long days(String key, int defaultDays) {
        return timespan(key, defaultDays * DAY);
    }

    /** Returns a number within bounds, both included. */
    public double number(String key, double defaultNumber, double min, double limit) {
        String written = text(key);
        if (written.isEmpty()) {
            return defaultNumber;
        }
        double number = parsed(written);
        if (number >= min && number <= limit) {
            return number;
        }
        throw refusal(key, key + " is expected to be a number from " + plain(min) + " to " + plain(limit), written);
    }

    private static double parsed(String written) {
        try {
            return Double.parseDouble(written);
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }

    private static String plain(double number) {
        return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
    }

    /** Returns a whole number within bounds, both included. */
    public int whole(String key, int defaultNumber, int min, int limit) {
        double number = number(key, defaultNumber, min, limit);
        if (number != Math.rint(number)) {
            throw refusal(key, key + " is expected to be a whole number", text(key));
        }
        return (int) number;
    }

    /** Returns a setting that is true or false. */
    public boolean flag(String key, boolean defaultValue) {
        String written = text(key);
        return switch (written) {
            case "" -> defaultValue;
            case "true" -> true;
            case "false" -> false;
            default -> throw refusal(key, key + " is expected to be true or false", written);
        };
    }

    /** Returns the text of a setting; empty if the file omits it. */
    public String text(String key) {
        known.add(key);
        return map.text(inFile(key));
    }

    /** Returns the key of a setting as the file contains it: the old key if it contains that one. */
    private String inFile(String key) {
        for (Map.Entry<String, String> renamed : RenamedDetectorKeys.SETTINGS.entrySet()) {
            String oldKey = renamed.getKey();
            if (renamed.getValue().equals(key) && map.has(oldKey)) {
                if (map.has(key)) {
                    throw map.refusal(map.keyNode(oldKey), RenamedDetectorKeys.both(oldKey, key));
                }
                warnings.put(oldKey, warning(oldKey, key));
                return oldKey;
            }
        }
        return key;
    }

    private RuleError warning(String oldKey, String newKey) {
        return map.refusal(map.keyNode(oldKey), RenamedDetectorKeys.warning(oldKey, newKey))
                .error();
    }

    /** Returns a warning for each setting with an old key. Call it after all settings were read. */
    public List<RuleError> warnings() {
        return List.copyOf(warnings.values());
    }

    /** Creates the error for a setting, with its position. */
    public RuntimeException refusal(String key, String expected, String found) {
        Node place = map.require(inFile(key), kind.fileKey());
        return map.refusal(place, expected + ", found " + found);
    }

    /** Creates the error for a detector that cannot be created. */
    public RuntimeException refusal(String reason) {
        return map.refusal(map.node(), reason);
    }

    /** Rejects settings that were not read. Call it after all settings were read. */
    public void refuseOthers() {
        List<String> others = map.keys().stream()
                .filter(key -> !known.contains(key) && !warnings.containsKey(key))
                .toList();
        if (!others.isEmpty()) {
            throw map.refusal(
                    map.keyNode(others.get(0)),
                    kind.fileKey() + " has no setting " + others.get(0) + "; it has " + String.join(", ", known));
        }
    }
}
