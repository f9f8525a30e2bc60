package io.tailrace.statement;

import com.alibaba.druid.DbType;
import com.alibaba.druid.sql.SQLUtils;
import com.alibaba.druid.sql.ast.SQLStatement;
import com.alibaba.druid.sql.ast.statement.SQLCreateViewStatement;
import com.alibaba.druid.sql.ast.statement.SQLExplainStatement;
import com.alibaba.druid.sql.dialect.mysql.ast.statement.MySqlUpdateStatement;
import com.alibaba.druid.sql.parser.ParserException;
import com.alibaba.druid.sql.visitor.SchemaStatVisitor;
import com.alibaba.druid.stat.TableStat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Finds the tables of a statement with Druid's parser for MySQL, in lower case. The results are converted to our rules
 * where its visitor has other ones:
 *
 * <ul>
 *   <li>For EXPLAIN of a change it reports the change; here the tables are read.
 *   <li>It does not report a created view; here the view is written.
 *   <li>It reports each table of a joined UPDATE as updated; here only those with an assigned column are, so only the
 *       names of the tables are compared.
 * </ul>
 */
public final class OtherParser {

    /**
     * Kinds of statements whose tables Druid's visitor reports. It does not support VALUES, LOCK, RENAME, LOAD,
     * HANDLER, SHOW and statements that maintain tables. For GRANT and for the bodies of stored programs it reports
     * tables that we do not.
     */
    private static final Set<String> KINDS = Set.of(
            "SELECT",
            "INSERT",
            "REPLACE",
            "UPDATE",
            "DELETE",
            "WITH",
            "VALUES",
            "TRUNCATE",
            "DROP",
            "ALTER",
            "EXPLAIN",
            "CREATE",
            "SET",
            "USE",
            "COMMIT",
            "BEGIN",
            "START",
            "CALL");

    private OtherParser() {}

    /** Names of the tables by role. */
    public record Answer(Set<String> read, Set<String> written, boolean rolesKnown) {

        /** Returns whether both results name the same tables in the same roles. */
        public boolean agrees(StatementTables ours) {
            Set<String> ourRead = folded(ours.read());
            Set<String> ourWritten = folded(ours.written());
            if (rolesKnown) {
                return ourRead.equals(read) && ourWritten.equals(written);
            }
            ourRead.addAll(ourWritten);
            Set<String> all = new TreeSet<>(read);
            all.addAll(written);
            return ourRead.equals(all);
        }
    }

    private static Set<String> folded(List<String> names) {
        return names.stream().map(OtherParser::folded).collect(Collectors.toCollection(TreeSet::new));
    }

    private static String folded(String name) {
        return name.replace("`", "").toLowerCase(Locale.ROOT);
    }

    /**
     * Returns empty if Druid cannot parse the statement (for some it needs Guava, which it does not declare as a
     * dependency), or if its visitor does not report the tables of its kind.
     */
    public static Optional<Answer> read(String statement, StatementTables ours) {
        if (!KINDS.contains(ours.verb()) || isProgram(statement)) {
            return Optional.empty();
        }
        try {
            List<SQLStatement> parsed = SQLUtils.parseStatements(statement, DbType.mysql);
            return parsed.size() == 1 ? Optional.of(answer(parsed.get(0))) : Optional.empty();
        } catch (ParserException
                | UnsupportedOperationException
                | IndexOutOfBoundsException
                | ClassCastException
                | NoClassDefFoundError refused) {
            return Optional.empty();
        }
    }

    private static boolean isProgram(String statement) {
        String head = statement.substring(0, Math.min(200, statement.length())).toUpperCase(Locale.ROOT);
        return head.matches("(?s).*\\bCREATE\\b.*\\b(PROCEDURE|FUNCTION|TRIGGER|EVENT)\\b.*");
    }

    private static Answer answer(SQLStatement statement) {
        SchemaStatVisitor visitor = SQLUtils.createSchemaStatVisitor(DbType.mysql);
        statement.accept(visitor);
        Set<String> read = new TreeSet<>();
        Set<String> written = new TreeSet<>();
        for (Map.Entry<TableStat.Name, TableStat> table : visitor.getTables().entrySet()) {
            String name = folded(table.getKey().getName());
            TableStat uses = table.getValue();
            if (uses.getSelectCount() > 0) {
                read.add(name);
            }
            if (changes(uses) > 0) {
                written.add(name);
            }
        }
        if (statement instanceof SQLCreateViewStatement view) {
            written.add(folded(view.getTableSource().getName().toString()));
        }
        if (statement instanceof SQLExplainStatement) {
            read.addAll(written);
            written.clear();
        }
        boolean joined = statement instanceof MySqlUpdateStatement && written.size() > 1;
        return new Answer(read, written, !joined);
    }

    private static int changes(TableStat uses) {
        return uses.getInsertCount()
                + uses.getUpdateCount()
                + uses.getDeleteCount()
                + uses.getMergeCount()
                + uses.getCreateCount()
                + uses.getDropCount()
                + uses.getAlterCount()
                + uses.getCreateIndexCount()
                + uses.getDropIndexCount();
    }
}
