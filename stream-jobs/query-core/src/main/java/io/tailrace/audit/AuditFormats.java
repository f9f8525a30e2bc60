package io.tailrace.audit;

import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogFormat;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Supplier;

/** All audit log formats that Tailrace reads. Names are stored with every event: never renamed. */
public final class AuditFormats {

    static final String MARIADB = "mariadb-audit";
    static final String MARIADB_SYSLOG = "mariadb-audit-syslog";
    static final String AURORA = "aurora-audit";
    static final String PERCONA_JSON = "percona-audit-json";
    static final String PERCONA_OLD = "percona-audit-xml-old";
    static final String PERCONA_NEW = "percona-audit-xml-new";
    static final String PERCONA_CSV = "percona-audit-csv";
    static final String PERCONA_SYSLOG = "percona-audit-syslog";
    static final String FILTER_JSON = "percona-audit-filter-json";
    static final String FILTER_OLD = "percona-audit-filter-xml-old";
    static final String FILTER_NEW = "percona-audit-filter-xml-new";
    static final String ENTERPRISE_JSON = "mysql-enterprise-audit-json";
    static final String ENTERPRISE_OLD = "mysql-enterprise-audit-xml-old";
    static final String ENTERPRISE_NEW = "mysql-enterprise-audit-xml-new";
    static final String MCAFEE = "mcafee-audit-json";

    private AuditFormats() {}

    /** The formats, in the order in which they are documented. */
    public static List<LogFormat> all() {
        return List.of(
                lines(MARIADB, MariaDbAuditParser::ofFile),
                lines(MARIADB_SYSLOG, () -> MariaDbAuditParser.ofSyslog(InstantSource.system())),
                lines(AURORA, MariaDbAuditParser::ofAurora),
                jsonLines(PERCONA_JSON, "audit_record", () -> new PluginParser(PERCONA_JSON, false)),
                xml(PERCONA_OLD, false),
                xml(PERCONA_NEW, false),
                new AuditFormat(PERCONA_CSV, CsvScanner::new, () -> new PluginParser(PERCONA_CSV, false)),
                lines(PERCONA_SYSLOG, () -> new PluginParser(PERCONA_SYSLOG, false)),
                json(FILTER_JSON, true),
                xml(FILTER_OLD, true),
                xml(FILTER_NEW, true),
                json(ENTERPRISE_JSON, false),
                xml(ENTERPRISE_OLD, false),
                xml(ENTERPRISE_NEW, false),
                jsonLines(MCAFEE, "msg-type", McAfeeParser::new));
    }

    private static LogFormat lines(String name, Supplier<EntryParser> parser) {
        return new AuditFormat(name, null, parser);
    }

    private static LogFormat jsonLines(String name, String firstMember, Supplier<EntryParser> parser) {
        return new AuditFormat(name, () -> new LineScanner("{\"" + firstMember + "\":"), parser);
    }

    private static LogFormat xml(String name, boolean localTime) {
        return new AuditFormat(name, XmlScanner::new, () -> new PluginParser(name, localTime));
    }

    private static LogFormat json(String name, boolean localTime) {
        return new AuditFormat(name, JsonScanner::new, () -> new FilterParser(name, localTime));
    }
}
