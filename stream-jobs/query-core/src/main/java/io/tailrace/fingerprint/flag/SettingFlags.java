package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.flag.EventFlag;
import io.tailrace.flag.EventFlagFamily;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Determines the values that {@code SET} assigns to settings of the server, {@code UPDATE} to those of the performance
 * schema, and {@code ALTER} to the encryption of a table or schema. Also determines the kind of a library that {@code
 * UNINSTALL} names in a literal. Fingerprints mask these literals, so that {@code general_log=0} and {@code =1} have the
 * same one. Not thread-safe.
 */
public final class SettingFlags {

    private static final int MAX_VALUE_LENGTH = 512;
    private static final int MAX_NAME_LENGTH = 128;
    private static final int MAX_LIBRARY_LENGTH = 256;

    private static final byte[] SET = ByteText.ascii("set");
    private static final byte[] UPDATE = ByteText.ascii("update");
    private static final byte[] WHERE = ByteText.ascii("where");
    private static final byte[] DEFAULT = ByteText.ascii("default");
    private static final byte[] ALTER = ByteText.ascii("alter");
    private static final byte[] UNINSTALL = ByteText.ascii("uninstall");

    /** The settings that flags report. The set is fixed, so that clients cannot invent flags. */
    private static final Pattern SETTINGS = Pattern.compile("slow_query_log|log_slow_query|long_query_time"
            + "|log_slow_query_time|(log_slow_)?min_examined_row_limit|log_slow_(rate_limit|filter|disabled_statements)|general_log|log_output|log_raw|log_error_verbosity|log_warnings"
            + "|sql_log_bin|sql_log_off|local_infile|event_scheduler|(super_)?read_only|offline_mode"
            + "|(extra_)?max_connections|max_user_connections|thread_pool_max_threads|require_secure_transport"
            + "|server_audit_(logging|events|excl_users|incl_users|output_type|mode)"
            + "|audit_log_(disable|filter_disable|policy|statement_policy|connection_policy)"
            + "|audit_log_(ex|in)clude_(accounts|commands|databases)"
            + "|(general_log|slow_query_log|log_slow_query)_file|(slave|replica)_connections_needed_for_purge"
            + "|log_error_(suppression_list|services)|dragnet_log_error_filter_rules"
            + "|init_connect|init_slave|init_replica"
            + "|expire_logs_days|binlog_expire_logs_(seconds|auto_purge)|max_binlog_total_size|binlog_space_limit"
            + "|log_bin_trust_function_creators|secure_auth|old_passwords|allow_suspicious_udfs|symbolic_links"
            + "|check_proxy_users|activate_all_roles_on_login|automatic_sp_privileges|partial_revokes"
            + "|default_password_lifetime|password_history|strict_password_validation"
            + "|validate_password|validate_password_(policy|length|check_user_name|(mixed_case|number|special_char)_count)"
            + "|simple_password_check_(digits|letters_same_case|minimal_length|other_characters)"
            + "|(component_)?connection_control_(failed_connections_threshold|(min|max)_connection_delay)|max_password_errors"
            + "|innodb_encrypt_(tables|log|temporary_tables)|innodb_(redo|undo)_log_encrypt"
            + "|innodb_encryption_threads|encrypt_(tmp_files|tmp_disk_tables|binlog)|binlog_encryption"
            + "|default_table_encryption|table_encryption_privilege_check|aria_encrypt_tables"
            + "|system_versioning_(alter|insert)_history|wsrep_(on|desync)|(foreign_key|unique)_checks");

    /** Columns of the performance schema's tables setup_ and threads. */
    private static final Set<String> SWITCHES = Set.of("enabled", "timed", "instrumented", "history");

    /** The attribute of a table, tablespace or schema. */
    private static final String ENCRYPTION = "encryption";

    private static final Pattern ENCRYPTIONS = Pattern.compile(ENCRYPTION);

    private static final Pattern SCOPE = Pattern.compile("^@@((global|persist|persist_only|session|local)\\.)?");
    private static final Pattern INSTRUMENTS = Pattern.compile("performance_schema\\..*|setup_\\w+|threads");

    private final ConditionTokens tokens;

    public SettingFlags(SqlMode mode) {
        tokens = new ConditionTokens(mode);
    }

    /** Returns whether a statement with this masked text may have any flag. */
    public boolean arePossible(byte[] masked, int length) {
        tokens.start(masked, 0, length);
        if (tokens.is(UNINSTALL)) {
            return true;
        }
        boolean alters = tokens.is(ALTER);
        Pattern wanted = tokens.is(SET) ? SETTINGS : alters ? ENCRYPTIONS : INSTRUMENTS;
        boolean found = false;
        for (boolean read = tokens.is(SET) || tokens.is(UPDATE) || alters;
                read && !found;
                read = tokens.kind() != Kind.END) {
            tokens.next();
            found = tokens.kind() == Kind.NAME && wanted.matcher(name()).matches();
        }
        return found;
    }

    /** Returns the flags of a statement. */
    public List<String> of(byte[] bytes, int from, int to) {
        tokens.start(bytes, from, to);
        Set<String> flags = new LinkedHashSet<>();
        if (tokens.is(UNINSTALL)) {
            libraries(flags);
        } else if (tokens.is(ALTER)) {
            encryption(flags);
        } else if (tokens.is(SET) || tokens.is(UPDATE)) {
            values(flags, tokens.is(UPDATE));
        }
        return List.copyOf(flags);
    }

    private void values(Set<String> flags, boolean update) {
        String setting = "";
        boolean target = true;
        int depth = 0;
        while (tokens.kind() != Kind.END && !(update && tokens.is(WHERE))) {
            depth += tokens.kind() == Kind.OPEN ? 1 : tokens.kind() == Kind.CLOSE ? -1 : 0;
            target |= tokens.kind() == Kind.STOP || depth == 0 && tokens.isComma();
            if (tokens.kind() == Kind.NAME) {
                setting = name();
            }
            boolean assigns = target && isEquals();
            tokens.next();
            if (assigns) {
                boolean known = update
                        ? SWITCHES.contains(setting)
                        : SETTINGS.matcher(setting).matches();
                String value = value(setting);
                if (known) {
                    flags.add(EventFlagFamily.setting(setting, value));
                }
                setting = "";
                target = false;
            }
        }
    }

    private boolean isEquals() {
        return tokens.kind() == Kind.COMPARISON && tokens.bytes()[tokens.from()] == '=';
    }

    /** Returns a setting's name without its scope and quotes. */
    private String name() {
        String name = text(MAX_NAME_LENGTH).replace("`", "").toLowerCase(Locale.ROOT);
        String setting = SCOPE.matcher(name).replaceFirst("");
        return INSTRUMENTS.matcher(setting).matches() ? setting : setting.replace('.', '_');
    }

    /** Returns the flag's value for the current token, and reads the token after it unless it is a parenthesis. */
    private String value(String setting) {
        String value =
                switch (tokens.kind()) {
                    case TEXT -> SettingValue.of(setting, quoted(MAX_VALUE_LENGTH));
                    case NULL -> SettingValue.ofNull(setting);
                    case NAME -> word(setting);
                    case TRUE, FALSE, NUMBER, WHERE -> SettingValue.of(setting, text(MAX_VALUE_LENGTH));
                    default -> SettingValue.OTHER;
                };
        if (tokens.kind() == Kind.OPEN) {
            return SettingValue.OTHER;
        }
        tokens.next();
        return valueEnds() ? value : SettingValue.OTHER;
    }

    private String word(String setting) {
        return tokens.is(DEFAULT) ? SettingValue.DEFAULT : SettingValue.of(setting, text(MAX_VALUE_LENGTH));
    }

    /** Returns whether the value consists of one token: not of {@code 1 - 1}, {@code 1 = 0} or {@code 'O' 'FF'}. */
    private boolean valueEnds() {
        return switch (tokens.kind()) {
            case END, STOP, WHERE, CLOSE -> true;
            default -> tokens.isComma();
        };
    }

    /** {@code ENCRYPTION = 'N'}; the equals sign is optional. */
    private void encryption(Set<String> flags) {
        while (tokens.kind() != Kind.END) {
            boolean named = tokens.kind() == Kind.NAME && name().equals(ENCRYPTION);
            tokens.next();
            if (named && isEquals()) {
                tokens.next();
            }
            if (named && tokens.kind() == Kind.TEXT) {
                flags.add(EventFlagFamily.setting(ENCRYPTION, SettingValue.of(ENCRYPTION, quoted(MAX_VALUE_LENGTH))));
            }
        }
    }

    private void libraries(Set<String> flags) {
        while (tokens.kind() != Kind.END) {
            if (tokens.kind() == Kind.TEXT) {
                library(quoted(MAX_LIBRARY_LENGTH).toLowerCase(Locale.ROOT)).addTo(flags);
            }
            tokens.next();
        }
    }

    private static EventFlag library(String name) {
        if (name.contains("audit")) {
            return EventFlag.UNINSTALLS_AUDIT;
        }
        if (name.contains("connection_control")) {
            return EventFlag.UNINSTALLS_LOGIN_GUARD;
        }
        boolean checks = name.contains("password") && (name.contains("validat") || name.contains("check"));
        return checks || name.contains("password_reuse")
                ? EventFlag.UNINSTALLS_PASSWORD_CHECK
                : EventFlag.UNINSTALLS_OTHER;
    }

    private String quoted(int limit) {
        int end = Math.max(tokens.from() + 1, tokens.isClosed() ? tokens.end() - 1 : tokens.end());
        return text(tokens.from() + 1, end, limit);
    }

    private String text(int limit) {
        return text(tokens.from(), tokens.end(), limit);
    }

    private String text(int from, int end, int limit) {
        return end - from > limit ? "-" : ByteText.utf8(tokens.bytes(), from, end);
    }
}
