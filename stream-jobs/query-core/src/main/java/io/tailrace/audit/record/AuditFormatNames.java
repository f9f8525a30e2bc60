package io.tailrace.audit.record;

/** Names of the audit log formats. They are stored with every event, so they never change. */
public final class AuditFormatNames {

    public static final String MARIADB = "mariadb-audit";
    public static final String MARIADB_SYSLOG = "mariadb-audit-syslog";
    public static final String AURORA = "aurora-audit";
    public static final String PERCONA_JSON = "percona-audit-json";
    public static final String PERCONA_OLD = "percona-audit-xml-old";
    public static final String PERCONA_NEW = "percona-audit-xml-new";
    public static final String PERCONA_CSV = "percona-audit-csv";
    public static final String PERCONA_SYSLOG = "percona-audit-syslog";
    public static final String FILTER_JSON = "percona-audit-filter-json";
    public static final String FILTER_OLD = "percona-audit-filter-xml-old";
    public static final String FILTER_NEW = "percona-audit-filter-xml-new";
    public static final String ENTERPRISE_JSON = "mysql-enterprise-audit-json";
    public static final String ENTERPRISE_OLD = "mysql-enterprise-audit-xml-old";
    public static final String ENTERPRISE_NEW = "mysql-enterprise-audit-xml-new";
    public static final String MCAFEE = "mcafee-audit-json";

    private AuditFormatNames() {}
}
