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
 * Tables of a statement as Druid's parser for MySQL sees them, in lower case. Where its visitor counts otherwise by rule,
 * its answer is put into our terms:
 *
 * <ul>
 *   <li>EXPLAIN of a change counts as that change: here its tables are read
 *   <li>a created view is not among its tables: here it is written
 *   <li>each table of a joined UPDATE counts as updated: here only those of which a column is assigned, so that only
 *       the tables as such are compared
 * </ul>
 */
public final class OtherParser {

    /**
     * Kinds of statements whose tables Druid's visitor tells. It has none for VALUES, LOCK, RENAME, LOAD, HANDLER, SHOW and what
     * maintains tables, and takes those of GRANT and of the bodies of stored programs, which we do not.
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

    /** How the tables are called: each with how it is used. */
    public record Answer(Set<String> read, Set<String> written, boolean rolesKnown) {

        /** Both name the same tables in the same roles. */
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
     * Empty where Druid cannot parse the statement (for some it needs Guava, which it does not name as a dependency), or
     * its visitor does not tell tables of its kind.
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
