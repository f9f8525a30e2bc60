package io.tailrace.flink.runtime;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Parses the configuration of a job.
 *
 * <p>Values come from the command line: {@code --config FILE} names a file of {@code key: value} lines, in which empty
 * lines and lines that start with {@code #} are ignored; {@code --KEY VALUE} sets one key and overrides the file. An
 * unknown key is an error that names the nearest known one. {@link RenamedJobKeys} lists old names, which still work.
 *
 * <p>The file is not YAML: a value is the rest of its line, or the text between quotes around it. Regular expressions
 * and JAAS configurations are therefore written as they are, where YAML would need escapes and would interpret {@code #}
 * and {@code : }. The stack, the Compose file and the chart write values in this way.
 */
public final class ConfigParser {

    private static final Logger LOG = LoggerFactory.getLogger(ConfigParser.class);
    private static final int MAX_MILLIS = Integer.MAX_VALUE;
    private static final int MAX_DAYS = 36_500;
    private static final int MAX_PORT = 65_535;

    private final Map<JobOption, String> values = new HashMap<>();
    private final Map<String, String> kafkaProperties = new TreeMap<>();

    private ConfigParser(List<JobOption> options, Map<String, String> written, Consumer<String> warnings) {
        List<String> names = options.stream().map(JobOption::key).toList();
        Map<String, String> given = RenamedJobKeys.apply(written, names, warnings);
        for (JobOption option : options) {
            option.defaultValue().ifPresent(defaults -> values.put(option, defaults));
        }
        given.forEach((name, value) -> {
            if (name.startsWith(JobOption.KAFKA_PROPERTIES)) {
                kafkaProperties.put(name.substring(JobOption.KAFKA_PROPERTIES.length()), value);
            } else {
                values.put(known(options, name), value);
            }
        });
        for (JobOption option : options) {
            if (!values.containsKey(option)) {
                throw new ConfigurationException("key " + option.key() + " is missing");
            }
        }
    }

    /**
     * @param ofJob the keys of the job besides {@link SharedJobOptions}
     * @throws ConfigurationException if a file or key cannot be used, or a key is missing
     */
    public static ConfigParser fromArguments(JobOption[] ofJob, String... arguments) {
        Map<String, String> given = new TreeMap<>();
        Map<String, String> fromCommandLine = new TreeMap<>();
        for (int i = 0; i < arguments.length; i += 2) {
            String name = arguments[i];
            if (!name.startsWith("--") || i + 1 == arguments.length) {
                throw new ConfigurationException("expected pairs of --key value, found " + name);
            }
            if (name.equals("--config")) {
                given.putAll(fileValues(Path.of(arguments[i + 1])));
            } else {
                fromCommandLine.put(name.substring(2), arguments[i + 1]);
            }
        }
        given.putAll(fromCommandLine);
        return fromMap(ofJob, given);
    }

    /**
     * @param ofJob the keys of the job besides {@link SharedJobOptions}
     * @throws ConfigurationException if a key cannot be used or is missing
     */
    public static ConfigParser fromMap(JobOption[] ofJob, Map<String, String> given) {
        return fromMap(ofJob, given, LOG::warn);
    }

    /**
     * @param ofJob the keys of the job besides {@link SharedJobOptions}
     * @param warnings receives one for each key with an old name
     * @throws ConfigurationException if a key cannot be used or is missing
     */
    public static ConfigParser fromMap(JobOption[] ofJob, Map<String, String> given, Consumer<String> warnings) {
        return new ConfigParser(SharedJobOptions.with(ofJob), given, warnings);
    }

    private static JobOption known(List<JobOption> options, String name) {
        return options.stream()
                .filter(option -> option.key().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigurationException(
                        "unknown key " + name + "; the nearest known one is " + nearest(options, name)));
    }

    private static String nearest(List<JobOption> known, String unknown) {
        return known.stream()
                .map(JobOption::key)
                .min(Comparator.comparingInt(key -> editDistance(unknown, key)))
                .orElseThrow();
    }

    private static int editDistance(String a, String b) {
        int[] previous = new int[b.length() + 1];
        Arrays.setAll(previous, i -> i);
        for (int i = 1; i <= a.length(); i++) {
            int[] row = new int[b.length() + 1];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int change = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(change, 1 + Math.min(previous[j], row[j - 1]));
            }
            previous = row;
        }
        return previous[b.length()];
    }

    private static Map<String, String> fileValues(Path file) {
        Map<String, String> found = new TreeMap<>();
        List<String> lines = linesOf(file);
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            int colon = line.indexOf(": ");
            if (colon < 0 && !line.endsWith(":")) {
                throw new ConfigurationException(file + ", line " + (i + 1) + ": expected `key: value`, found " + line);
            }
            String key = colon < 0 ? line.substring(0, line.length() - 1) : line.substring(0, colon);
            found.put(
                    key.strip(),
                    colon < 0 ? "" : unquoted(line.substring(colon + 1).strip()));
        }
        return found;
    }

    private static List<String> linesOf(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new ConfigurationException("cannot read the configuration: " + e);
        }
    }

    private static String unquoted(String value) {
        boolean quoted = value.length() > 1
                && (value.charAt(0) == '"' || value.charAt(0) == '\'')
                && value.charAt(value.length() - 1) == value.charAt(0);
        return quoted ? value.substring(1, value.length() - 1) : value;
    }

    /** Returns the value, which may be empty. */
    public String text(JobOption key) {
        return values.get(key);
    }

    /** @throws ConfigurationException if the value is empty */
    public String notEmpty(JobOption key) {
        String value = values.get(key);
        if (value.isEmpty()) {
            throw new ConfigurationException("key " + key.key() + " must not be empty");
        }
        return value;
    }

    /** @throws ConfigurationException if the value is not a whole number in this range, both ends included */
    public int number(JobOption key, int min, int limit) {
        String expected = key.key() + " must be a whole number from " + min + " to " + limit;
        try {
            int value = Integer.parseInt(values.get(key));
            if (value >= min && value <= limit) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw new ConfigurationException(expected + ", not " + values.get(key));
        }
        throw new ConfigurationException(expected + ", not " + values.get(key));
    }

    /** @throws ConfigurationException if the value is not a number of milliseconds of at least {@code min} */
    public Duration millis(JobOption key, int min) {
        return Duration.ofMillis(number(key, min, MAX_MILLIS));
    }

    /** @throws ConfigurationException if the value is not a number of days of at least 1 */
    public Duration days(JobOption key) {
        return Duration.ofDays(number(key, 1, MAX_DAYS));
    }

    /** @throws ConfigurationException if the value is neither a TCP port nor 0 */
    public int port(JobOption key) {
        return number(key, 0, MAX_PORT);
    }

    /** @throws ConfigurationException if the value is not one of these */
    public String oneOf(JobOption key, String... allowed) {
        String value = notEmpty(key);
        if (!List.of(allowed).contains(value)) {
            throw new ConfigurationException(key.key() + " must be " + String.join(" or ", allowed) + ", not " + value);
        }
        return value;
    }

    /** @throws ConfigurationException if the value is not an HTTP address */
    public URI httpAddress(JobOption key) {
        URI url = URI.create(notEmpty(key).replaceAll("/+$", ""));
        if (url.getHost() == null || !List.of("http", "https").contains(url.getScheme())) {
            throw new ConfigurationException(key.key() + " must be like http://127.0.0.1:8123, not " + url);
        }
        return url;
    }

    /** Returns a directory as a URI; a path is one on this machine. */
    public String directory(JobOption key) {
        String directory = notEmpty(key);
        return directory.contains(":/")
                ? directory
                : Path.of(directory).toAbsolutePath().toUri().toString();
    }

    /** Returns the settings of Kafka's clients, such as {@code security.protocol}. */
    Properties kafkaProperties() {
        Properties properties = new Properties();
        properties.putAll(kafkaProperties);
        return properties;
    }
}
