package io.tailrace.audit;

import io.tailrace.audit.filter.AuditFilterParser;
import io.tailrace.audit.json.JsonScanner;
import io.tailrace.audit.mariadb.MariaDbAuditParser;
import io.tailrace.audit.mcafee.McAfeeParser;
import io.tailrace.audit.percona.CsvScanner;
import io.tailrace.audit.percona.PluginParser;
import io.tailrace.audit.record.AuditFormatNames;
import io.tailrace.audit.record.SingleLineScanner;
import io.tailrace.audit.xml.XmlScanner;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogFormat;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Supplier;

/** All audit log formats that Tailrace reads. */
public final class AuditFormats {

    private AuditFormats() {}

    /** Returns the formats in the order in which they are documented. */
    public static List<LogFormat> all() {
        return List.of(
                lines(AuditFormatNames.MARIADB, MariaDbAuditParser::ofFile),
                lines(AuditFormatNames.MARIADB_SYSLOG, () -> MariaDbAuditParser.ofSyslog(InstantSource.system())),
                lines(AuditFormatNames.AURORA, MariaDbAuditParser::ofAurora),
                jsonLines(
                        AuditFormatNames.PERCONA_JSON,
                        "audit_record",
                        () -> new PluginParser(AuditFormatNames.PERCONA_JSON, false)),
                xml(AuditFormatNames.PERCONA_OLD, false),
                xml(AuditFormatNames.PERCONA_NEW, false),
                new AuditFormat(
                        AuditFormatNames.PERCONA_CSV,
                        CsvScanner::new,
                        () -> new PluginParser(AuditFormatNames.PERCONA_CSV, false)),
                lines(AuditFormatNames.PERCONA_SYSLOG, () -> new PluginParser(AuditFormatNames.PERCONA_SYSLOG, false)),
                json(AuditFormatNames.FILTER_JSON, true),
                xml(AuditFormatNames.FILTER_OLD, true),
                xml(AuditFormatNames.FILTER_NEW, true),
                json(AuditFormatNames.ENTERPRISE_JSON, false),
                xml(AuditFormatNames.ENTERPRISE_OLD, false),
                xml(AuditFormatNames.ENTERPRISE_NEW, false),
                jsonLines(AuditFormatNames.MCAFEE, "msg-type", McAfeeParser::new));
    }

    private static LogFormat lines(String name, Supplier<EntryParser> parser) {
        return new AuditFormat(name, null, parser);
    }

    private static LogFormat jsonLines(String name, String firstMember, Supplier<EntryParser> parser) {
        return new AuditFormat(name, () -> new SingleLineScanner("{\"" + firstMember + "\":"), parser);
    }

    private static LogFormat xml(String name, boolean localTime) {
        return new AuditFormat(name, XmlScanner::new, () -> new PluginParser(name, localTime));
    }

    private static LogFormat json(String name, boolean localTime) {
        return new AuditFormat(name, JsonScanner::new, () -> new AuditFilterParser(name, localTime));
    }
}
