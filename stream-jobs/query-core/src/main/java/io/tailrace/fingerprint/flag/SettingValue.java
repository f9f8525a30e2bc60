package io.tailrace.fingerprint.flag;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Describes the value that a statement assigns to a setting of the server, without the value itself. */
final class SettingValue {

    /** Value in a flag for 0, OFF, FALSE, NO, NONE, LOW, NULL or an empty text. */
    static final String OFF = "off";
    /** Value for the word DEFAULT: the value that is compiled into the server, not that of its configuration file. */
    static final String DEFAULT = "default";
    /** Value for any other text, word or expression, whose meaning is unknown. */
    static final String OTHER = "other";

    /** Value for 1, ON, TRUE, YES, MEDIUM, STRONG, ALL or FORCE. */
    private static final String ON = "on";
    /** Value for any other number, followed by its order of magnitude: e0 up to 10, e3 from 1,000 up to 10,000. */
    private static final String MAGNITUDE = "e";
    /** Value for the path of a file that is named like a log. */
    private static final String LOG = "log";

    private static final int MAX_MAGNITUDE = 9;

    private static final Set<String> OFF_WORDS =
            Set.of("off", "false", "no", "n", "none", "low", "", "error", "online_from_keyring_to_unencrypted");
    private static final Set<String> ON_WORDS = Set.of(
            "on",
            "true",
            "yes",
            "y",
            "medium",
            "strong",
            "all",
            "keep",
            "force",
            "master_key",
            "keyring_key",
            "keyring_on",
            "keyring_force",
            "online_to_keyring",
            "online_to_keyring_force");
    private static final Pattern NUMBER = Pattern.compile("([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(e[+-]?[0-9]{1,3})?");

    /** Settings with a list or a text: 'none' in it is the name of an account, and only an empty one is off. */
    private static final Pattern LISTS = Pattern.compile("server_audit_(events|(ex|in)cl_users)"
            + "|audit_log_(ex|in)clude_(accounts|commands|databases)"
            + "|log_error_suppression_list|log_slow_(filter|disabled_statements)|init_connect|init_slave|init_replica");

    /** Settings whose numbers mean other words in other products: 1 is NONE in Percona Server. */
    private static final Pattern ENUMERATIONS = Pattern.compile("audit_log_((statement|connection)_)?policy");

    private static final String OUTPUT = "log_output";

    private static final Pattern FILES = Pattern.compile("(general_log|slow_query_log|log_slow_query)_file");
    /** {@code /var/log/mysql/slow-2026-01-01.log}, {@code slow.log.1}; not {@code x.php.log} and nothing hidden. */
    private static final Pattern LOG_FILE = Pattern.compile("(.*/)?[a-z0-9][a-z0-9_-]*\\.(log|err)([._-][0-9_-]+)?");

    /** Directories of web servers and of the configuration, in which no server writes logs. */
    private static final Pattern OTHER_DIRECTORY = Pattern.compile(
            ".*/(www|htdocs|html|http|public|public_html|webroot|web|wwwroot|nginx|cgi-bin|etc|\\.[^/]+)(/.*)?");

    private SettingValue() {}

    /**
     * Returns the value in a flag for a literal or a word.
     *
     * @param setting name in lower case
     * @param literal a literal without quotes, or a word
     */
    static String of(String setting, String literal) {
        String value = literal.trim().toLowerCase(Locale.ROOT);
        if (LISTS.matcher(setting).matches()) {
            return value.isEmpty() ? OFF : OTHER;
        }
        if (FILES.matcher(setting).matches()) {
            boolean log = LOG_FILE.matcher(value).matches()
                    && !OTHER_DIRECTORY.matcher(value).matches();
            return log ? LOG : OTHER;
        }
        if (setting.equals(OUTPUT)) {
            return writesNothing(value) ? OFF : OTHER;
        }
        boolean number = NUMBER.matcher(value).matches();
        if (number && ENUMERATIONS.matcher(setting).matches()) {
            return OTHER;
        }
        if (OFF_WORDS.contains(value)) {
            return OFF;
        }
        if (ON_WORDS.contains(value)) {
            return ON;
        }
        return number ? number(Double.parseDouble(value)) : OTHER;
    }

    /** Returns whether a value of log_output contains NONE, which overrides the other words; its bit is 1. */
    private static boolean writesNothing(String value) {
        boolean none = List.of(value.split(" *, *")).contains("none");
        return none || value.isEmpty() || value.matches("[0-9]*[13579]|0+");
    }

    /** Returns the value in a flag for NULL: a list of included names then includes all, an empty one none. */
    static String ofNull(String setting) {
        return setting.startsWith("audit_log_include_") ? DEFAULT : OFF;
    }

    private static String number(double number) {
        if (number == 0 || number == 1) {
            return number == 0 ? OFF : ON;
        }
        return MAGNITUDE + (int) Math.max(0, Math.min(MAX_MAGNITUDE, Math.floor(Math.log10(number))));
    }
}
