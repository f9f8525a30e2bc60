package io.tailrace.spans;

import com.google.protobuf.ByteString;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import io.tailrace.lexer.ByteText;
import io.tailrace.tags.StatementTags;

/**
 * Masks the statements of spans: the text of the class is stored in place of the statement. A statement of a server
 * outside of MySQL's family has no class. If its backslashes or its language could mislead the lexer, its text is not
 * stored at all. Not thread-safe.
 */
final class StatementMask {

    private static final byte BACKSLASH = '\\';

    private final Fingerprinter fingerprinter = new Fingerprinter();

    MaskedStatement mask(DatabaseCall call) {
        ByteString statement = call.statement();
        if (statement.isEmpty()) {
            return MaskedStatement.NONE;
        }
        if (call.isMySql()) {
            return ofMySql(DriverPlaceholders.replaced(statement.toByteArray()));
        }
        byte[] bytes = statement.toByteArray();
        boolean readable =
                call.isSql() && ByteText.firstOf(bytes, 0, bytes.length, BACKSLASH, BACKSLASH) == bytes.length;
        return readable ? MaskedStatement.withoutClass(text(bytes), StatementTags.NONE) : MaskedStatement.OPAQUE;
    }

    private MaskedStatement ofMySql(byte[] statement) {
        NormalizedStatement shape = fingerprinter.statement(statement, 0, statement.length);
        StatementTags tags = fingerprinter.tags(statement);
        boolean whole = !fingerprinter.isDoubtful() && !shape.fingerprint().isEmpty();
        return whole
                ? new MaskedStatement(
                        shape.fingerprint(), shape.queryId(), Fingerprinter.RULE_SET, tags, shape.tables())
                : MaskedStatement.withoutClass(shape.fingerprint(), tags);
    }

    /** Returns a statement of any server without its literals. */
    String text(byte[] statement) {
        return fingerprinter.statement(statement, 0, statement.length).fingerprint();
    }
}
