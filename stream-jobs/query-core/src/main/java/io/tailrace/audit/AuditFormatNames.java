package io.tailrace.audit;

/** Names of the audit log formats. They are stored with every event: never renamed. */
final class AuditFormatNames {

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

    private AuditFormatNames() {}
}
