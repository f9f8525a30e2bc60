package io.tailrace.detection.match;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.util.List;

/** The condition of a rule on an event. */
public sealed interface Expression {

    boolean matches(DetectionEvent event);

    /** True if all parts are true, also if there are none. */
    record All(List<Expression> parts) implements Expression {

        @Override
        public boolean matches(DetectionEvent event) {
            for (Expression part : parts) {
                if (!part.matches(event)) {
                    return false;
                }
            }
            return true;
        }
    }

    /** True if at least {@code count} parts are true. */
    record AtLeast(int count, List<Expression> parts) implements Expression {

        @Override
        public boolean matches(DetectionEvent event) {
            int missing = count;
            for (Expression part : parts) {
                if (part.matches(event) && --missing == 0) {
                    return true;
                }
            }
            return missing <= 0;
        }
    }

    /** The negation. */
    record Not(Expression part) implements Expression {

        @Override
        public boolean matches(DetectionEvent event) {
            return !part.matches(event);
        }
    }

    /** True if at least one value of a field passes the test. An absent field does not pass. */
    record Field(String name, ValueMatcher test) implements Expression {

        @Override
        public boolean matches(DetectionEvent event) {
            return any(event.values(name), test);
        }
    }

    /** True if the field has a value, or if it has none. */
    record Exists(String name, boolean expected) implements Expression {

        @Override
        public boolean matches(DetectionEvent event) {
            return event.values(name).isEmpty() != expected;
        }
    }

    /** True if a value of any field passes the test. */
    record Keyword(ValueMatcher test) implements Expression {

        @Override
        public boolean matches(DetectionEvent event) {
            for (List<FieldValue> values : event.fields().values()) {
                if (any(values, test)) {
                    return true;
                }
            }
            return false;
        }
    }

    /** True if a value of one field has a relation to a value of another. */
    record SameField(String name, String other, Relation relation, boolean cased) implements Expression {

        /** The relation of the first field's value to the other's. */
        public enum Relation {
            EQUALS,
            STARTS_WITH,
            ENDS_WITH,
            CONTAINS
        }

        @Override
        public boolean matches(DetectionEvent event) {
            for (FieldValue value : event.values(name)) {
                for (FieldValue wanted : event.values(other)) {
                    if (cased ? relates(value.text(), wanted.text()) : relates(value.folded(), wanted.folded())) {
                        return true;
                    }
                }
            }
            return false;
        }

        private boolean relates(String value, String wanted) {
            return switch (relation) {
                case EQUALS -> value.equals(wanted);
                case STARTS_WITH -> value.startsWith(wanted);
                case ENDS_WITH -> value.endsWith(wanted);
                case CONTAINS -> value.contains(wanted);
            };
        }
    }

    private static boolean any(List<FieldValue> values, ValueMatcher test) {
        for (int i = 0; i < values.size(); i++) {
            if (test.test(values.get(i))) {
                return true;
            }
        }
        return false;
    }

    /** Returns an expression that is true if at least one part is. */
    static Expression any(List<Expression> parts) {
        return parts.size() == 1 ? parts.get(0) : new AtLeast(1, List.copyOf(parts));
    }

    /** Returns an expression that is true if all parts are. */
    static Expression all(List<Expression> parts) {
        return parts.size() == 1 ? parts.get(0) : new All(List.copyOf(parts));
    }
}
