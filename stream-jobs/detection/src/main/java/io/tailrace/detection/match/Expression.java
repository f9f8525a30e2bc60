package io.tailrace.detection.match;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.util.List;

/** What an event must be for a rule to match. */
public sealed interface Expression {

    boolean matches(DetectionEvent event);

    /** All of several; true where there is none. */
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

    /** At least so many of several. */
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

    /** The opposite. */
    record Not(Expression part) implements Expression {

        @Override
        public boolean matches(DetectionEvent event) {
            return !part.matches(event);
        }
    }

    /** One value of a field at least stands the test; an absent field does not. */
    record Field(String name, ValueMatcher test) implements Expression {

        @Override
        public boolean matches(DetectionEvent event) {
            return any(event.values(name), test);
        }
    }

    /** The field has a value, or has none. */
    record Exists(String name, boolean expected) implements Expression {

        @Override
        public boolean matches(DetectionEvent event) {
            return event.values(name).isEmpty() != expected;
        }
    }

    /** One value of any field stands the test. */
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

    /** One value of a field relates to one value of another. */
    record SameField(String name, String other, Relation relation, boolean cased) implements Expression {

        /** How the first field's value relates to the other's. */
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

    /** One of several at least. */
    static Expression any(List<Expression> parts) {
        return parts.size() == 1 ? parts.get(0) : new AtLeast(1, List.copyOf(parts));
    }

    /** All of several. */
    static Expression all(List<Expression> parts) {
        return parts.size() == 1 ? parts.get(0) : new All(List.copyOf(parts));
    }
}
