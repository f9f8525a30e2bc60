package io.tailrace.normalize;

import io.tailrace.innodb.LogCapacities;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Configuration of the normalize job: read once at start, checked as a whole, never changed.
 *
 * <p>It comes from the command line: {@code --config FILE} names a file of {@code key: value} lines, where empty lines
 * and lines that start with {@code #} do not count; {@code --KEY VALUE} sets one key and wins over the file. The keys,
 * their meaning and defaults are those of {@link ConfigKey} and, for Kafka's clients, {@code kafka.properties.*}. An
 * unknown key is an error that names the nearest known one.
 */
final class NormalizeConfig {

    private static final int MOST_PORT = 65_535;
    private static final int MOST_PARALLELISM = 1024;
    private static final int MOST_COMMITTERS = 64;
    private static final int MOST_DAYS = 36_500;
    private static final int MOST_MILLIS = Integer.MAX_VALUE;

    private final Map<ConfigKey, String> values;
    private final Map<String, String> kafkaProperties;

    private NormalizeConfig(Map<ConfigKey, String> values, Map<String, String> kafkaProperties) {
        this.values = values;
        this.kafkaProperties = kafkaProperties;
        checkAll();
    }

    /** @throws ConfigException if a file, key or value cannot be used */
    static NormalizeConfig fromArguments(String... arguments) {
        Map<String, String> given = new TreeMap<>();
        Map<String, String> fromCommandLine = new TreeMap<>();
        for (int i = 0; i < arguments.length; i += 2) {
            String name = arguments[i];
            if (!name.startsWith("--") || i + 1 == arguments.length) {
                throw new ConfigException("expected pairs of --key value, found " + name);
            }
            if (name.equals("--config")) {
                given.putAll(fileValues(Path.of(arguments[i + 1])));
            } else {
                fromCommandLine.put(name.substring(2), arguments[i + 1]);
            }
        }
        given.putAll(fromCommandLine);
        return fromMap(given);
    }

    /** @throws ConfigException if a key or value cannot be used */
    static NormalizeConfig fromMap(Map<String, String> given) {
        Map<ConfigKey, String> values = new EnumMap<>(ConfigKey.class);
        Map<String, String> kafka = new TreeMap<>();
        for (ConfigKey key : ConfigKey.values()) {
            key.usual().ifPresent(usual -> values.put(key, usual));
        }
        given.forEach((name, value) -> {
            if (name.startsWith(ConfigKey.KAFKA_PROPERTIES)) {
                kafka.put(name.substring(ConfigKey.KAFKA_PROPERTIES.length()), value);
            } else {
                values.put(knownKey(name), value);
            }
        });
        return new NormalizeConfig(values, kafka);
    }

    private static ConfigKey knownKey(String name) {
        return ConfigKey.of(name)
                .orElseThrow(() -> new ConfigException("unknown key " + name + "; the nearest known one is "
                        + ConfigKey.nearest(name).key()));
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
                throw new ConfigException(file + ", line " + (i + 1) + ": expected `key: value`, found " + line);
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
            throw new ConfigException("cannot read the configuration: " + e);
        }
    }

    private static String unquoted(String value) {
        boolean quoted = value.length() > 1
                && (value.charAt(0) == '"' || value.charAt(0) == '\'')
                && value.charAt(value.length() - 1) == value.charAt(0);
        return quoted ? value.substring(1, value.length() - 1) : value;
    }

    /** Reads every value once, so that a bad one is found at start and not in an operator. */
    private void checkAll() {
        for (ConfigKey key : ConfigKey.values()) {
            if (!values.containsKey(key)) {
                throw new ConfigException("key " + key.key() + " is missing");
            }
        }
        kafkaBootstrap();
        kafkaGroup();
        linesTopics();
        clickHouseUrl();
        clickHouseUser();
        clickHouseDatabase();
        committers();
        mostPendingBytes();
        checkpointDirectory();
        checkpointInterval();
        parallelism();
        webPort();
        queryEventsRetention();
        auditEventsRetention();
        errorEventsRetention();
        gapTimeout();
        innoDbLogs();
        stateBackend();
    }

    String kafkaBootstrap() {
        return notEmpty(ConfigKey.KAFKA_BOOTSTRAP);
    }

    String kafkaGroup() {
        return notEmpty(ConfigKey.KAFKA_GROUP);
    }

    /** Settings for Kafka's clients, such as {@code security.protocol}. */
    Properties kafkaProperties() {
        Properties properties = new Properties();
        properties.putAll(kafkaProperties);
        return properties;
    }

    Pattern linesTopics() {
        try {
            return Pattern.compile(notEmpty(ConfigKey.TOPICS_LINES));
        } catch (PatternSyntaxException e) {
            throw new ConfigException("topics.lines is no regular expression: " + e.getMessage());
        }
    }

    /** Empty to publish no events. */
    String eventsTopic() {
        return values.get(ConfigKey.TOPICS_EVENTS);
    }

    URI clickHouseUrl() {
        URI url = URI.create(notEmpty(ConfigKey.CLICKHOUSE_URL).replaceAll("/+$", ""));
        if (url.getHost() == null || !List.of("http", "https").contains(url.getScheme())) {
            throw new ConfigException("clickhouse.url must be like http://127.0.0.1:8123, not " + url);
        }
        return url;
    }

    String clickHouseUser() {
        return notEmpty(ConfigKey.CLICKHOUSE_USER);
    }

    /** Empty for no password. */
    String clickHousePasswordFile() {
        return values.get(ConfigKey.CLICKHOUSE_PASSWORD_FILE);
    }

    String clickHouseDatabase() {
        return notEmpty(ConfigKey.CLICKHOUSE_DATABASE);
    }

    int committers() {
        return number(ConfigKey.CLICKHOUSE_COMMITTERS, 1, MOST_COMMITTERS);
    }

    long mostPendingBytes() {
        return (long) number(ConfigKey.CLICKHOUSE_PENDING_MIB, 1, 1 << 20) << 20;
    }

    /** As a URI. */
    String checkpointDirectory() {
        String directory = notEmpty(ConfigKey.CHECKPOINT_DIR);
        return directory.contains(":/")
                ? directory
                : Path.of(directory).toAbsolutePath().toUri().toString();
    }

    Duration checkpointInterval() {
        return Duration.ofMillis(number(ConfigKey.CHECKPOINT_INTERVAL_MS, 10, MOST_MILLIS));
    }

    /** Empty to start without state. */
    String restorePath() {
        return values.get(ConfigKey.RESTORE_PATH);
    }

    int parallelism() {
        return number(ConfigKey.PARALLELISM, 1, MOST_PARALLELISM);
    }

    String stateBackend() {
        String backend = notEmpty(ConfigKey.STATE_BACKEND);
        if (!List.of("hashmap", "rocksdb").contains(backend)) {
            throw new ConfigException("state.backend must be hashmap or rocksdb, not " + backend);
        }
        return backend;
    }

    int webPort() {
        return number(ConfigKey.WEB_PORT, 0, MOST_PORT);
    }

    Duration queryEventsRetention() {
        return Duration.ofDays(number(ConfigKey.RETENTION_QUERY_EVENTS_DAYS, 1, MOST_DAYS));
    }

    Duration auditEventsRetention() {
        return Duration.ofDays(number(ConfigKey.RETENTION_AUDIT_EVENTS_DAYS, 1, MOST_DAYS));
    }

    Duration errorEventsRetention() {
        return Duration.ofDays(number(ConfigKey.RETENTION_ERROR_EVENTS_DAYS, 1, MOST_DAYS));
    }

    Duration gapTimeout() {
        return Duration.ofMillis(number(ConfigKey.GAP_TIMEOUT_MS, 1, MOST_MILLIS));
    }

    LogCapacities innoDbLogs() {
        try {
            return LogCapacities.parse(values.get(ConfigKey.INNODB_LOG_CAPACITY));
        } catch (IllegalArgumentException e) {
            throw new ConfigException(ConfigKey.INNODB_LOG_CAPACITY.key() + ": " + e.getMessage());
        }
    }

    private String notEmpty(ConfigKey key) {
        String value = values.get(key);
        if (value.isEmpty()) {
            throw new ConfigException("key " + key.key() + " must not be empty");
        }
        return value;
    }

    private int number(ConfigKey key, int least, int most) {
        String expected = key.key() + " must be a whole number from " + least + " to " + most;
        try {
            int value = Integer.parseInt(values.get(key));
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw new ConfigException(expected + ", not " + values.get(key));
        }
        throw new ConfigException(expected + ", not " + values.get(key));
    }
}
