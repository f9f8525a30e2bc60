package io.tailrace.detection.sigma.search;

import io.tailrace.detection.match.ComparisonMatcher;
import io.tailrace.detection.match.DatePartMatcher;
import io.tailrace.detection.match.Expression.SameField.Relation;
import java.math.BigDecimal;

/** A value of a rule while modifiers are applied to it. */
sealed interface Operand {

    /** Characters and wildcards. */
    record Text(TextTokens tokens) implements Operand {}

    /** A number; {@code written} is its text for modifiers that need one. */
    record Number(BigDecimal value, String written) implements Operand {}

    /** True or false. */
    record Bool(boolean value) implements Operand {}

    /** No value. */
    record Null() implements Operand {}

    /** A regular expression in RE2 syntax, with RE2/J's flags. */
    record Regex(String source, int flags) implements Operand {}

    /** A network in CIDR notation. */
    record Cidr(String network) implements Operand {}

    /** A bound of a comparison. */
    record Bound(ComparisonMatcher.Operator operator, BigDecimal value) implements Operand {}

    /** Another field. */
    record FieldName(String name, Relation relation) implements Operand {}

    /** Whether the field has a value. */
    record Presence(boolean expected) implements Operand {}

    /** A part of a time. */
    record Part(DatePartMatcher.Unit unit, long expected) implements Operand {}
}
