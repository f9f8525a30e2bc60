package io.tailrace.fingerprint.flag;

import io.tailrace.lexer.SqlMode;
import java.util.List;

/** Detects properties of the literals of statements, which their classes do not show. Not thread-safe. */
public final class LiteralFlags {

    private final ConstantConditionFlags conditions;
    private final DynamicStatementFlags hidden;
    private final SettingFlags assigned;
    private final List<LiteralFlag> properties;

    public LiteralFlags(SqlMode mode) {
        conditions = new ConstantConditionFlags(mode);
        hidden = new DynamicStatementFlags(mode);
        assigned = new SettingFlags(mode);
        properties = List.of(new UnionRowFlags(mode), new SecretPatternFlags(mode), new AdministratorValueFlags(mode));
    }

    /** Returns whether a statement with this masked text may have any of the flags. */
    public boolean arePossible(byte[] masked, int length) {
        return conditions.arePossible(masked, length)
                || hidden.arePossible(masked, length)
                || assigned.arePossible(masked, length)
                || properties.stream().anyMatch(property -> property.isIn(masked, 0, length, true));
    }

    /** Adds the flags of the statement in a range. */
    public void addTo(List<String> flags, byte[] bytes, int from, int to) {
        flags.addAll(conditions.of(bytes, from, to));
        flags.addAll(hidden.of(bytes, from, to));
        flags.addAll(assigned.of(bytes, from, to));
        for (LiteralFlag property : properties) {
            if (property.isIn(bytes, from, to, false)) {
                property.flag().addTo(flags);
            }
        }
    }
}
