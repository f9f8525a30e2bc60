package io.tailrace.detection.index;

import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.match.Expression;
import io.tailrace.detection.match.NumberMatcher;
import io.tailrace.detection.match.SelectivityEstimator;
import io.tailrace.detection.match.ValueMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A property that an event must have before a rule is evaluated.
 *
 * @param kind test of the field
 * @param field name of the field; empty: any
 * @param text folded text; empty if the test needs none
 * @param number number; 0 if the test needs none
 */
record PrefilterTerm(Kind kind, String field, String text, double number) {

    /** The test of a field. */
    enum Kind {
        /** It has a value. */
        PRESENT,
        /** One of its values is this number. */
        NUMBER,
        /** One of its values is this text. */
        WHOLE,
        /** One of its values contains this text. */
        PART
    }

    private static final int RARE_NUMBER = 6;
    private static final int RARE_FIELD = 3;
    private static final String VERB = DatabaseField.VERB.fieldName();
    private static final String MOST_FREQUENT_VERB = "select";
    /** Fields of database events that few events have, so that any value of them is rare. */
    private static final Set<String> RARE_FIELDS = Stream.of(
                    DatabaseField.LOGIN,
                    DatabaseField.TARGET_ACCOUNT,
                    DatabaseField.TARGET_USER,
                    DatabaseField.DATA_ACCESS,
                    DatabaseField.DATA_BASIS,
                    DatabaseField.DATA_CLASS,
                    DatabaseField.DATA_CLASS_READ,
                    DatabaseField.DATA_CLASS_WRITTEN,
                    DatabaseField.ERROR_CODE,
                    DatabaseField.FLAG,
                    DatabaseField.KIND,
                    DatabaseField.MESSAGE)
            .map(DatabaseField::fieldName)
            .collect(Collectors.toUnmodifiableSet());

    /** Returns terms of which every matching event has at least one, chosen to be rare; empty if there are none. */
    static List<PrefilterTerm> of(Expression expression) {
        if (expression instanceof Expression.All all) {
            return rarest(all.parts());
        }
        if (expression instanceof Expression.AtLeast some) {
            return union(some.parts());
        }
        if (expression instanceof Expression.Field field) {
            return of(field.name(), field.test());
        }
        if (expression instanceof Expression.Keyword keyword) {
            return keyword.test().literals().isEmpty() ? List.of() : of("", keyword.test());
        }
        if (expression instanceof Expression.SameField same) {
            return List.of(present(same.name()));
        }
        return expression instanceof Expression.Exists exists && exists.expected()
                ? List.of(present(exists.name()))
                : List.of();
    }

    private static PrefilterTerm present(String field) {
        return new PrefilterTerm(Kind.PRESENT, field, "", 0);
    }

    private static List<PrefilterTerm> of(String field, ValueMatcher test) {
        if (test instanceof NumberMatcher equal) {
            return List.of(new PrefilterTerm(Kind.NUMBER, field, "", equal.approximate()));
        }
        List<PrefilterTerm> anchors = test.literals().stream()
                .map(literal -> new PrefilterTerm(literal.whole() ? Kind.WHOLE : Kind.PART, field, literal.text(), 0))
                .toList();
        return anchors.isEmpty() ? List.of(present(field)) : anchors;
    }

    private static List<PrefilterTerm> rarest(List<Expression> parts) {
        List<PrefilterTerm> best = List.of();
        for (Expression part : parts) {
            List<PrefilterTerm> anchors = of(part);
            if (!anchors.isEmpty() && (best.isEmpty() || rarity(anchors) > rarity(best))) {
                best = anchors;
            }
        }
        return best;
    }

    private static List<PrefilterTerm> union(List<Expression> parts) {
        List<PrefilterTerm> union = new ArrayList<>();
        for (Expression part : parts) {
            List<PrefilterTerm> anchors = of(part);
            if (anchors.isEmpty()) {
                return List.of();
            }
            union.addAll(anchors);
        }
        return union;
    }

    private static int rarity(List<PrefilterTerm> anchors) {
        return anchors.stream().mapToInt(PrefilterTerm::rarity).min().orElse(0);
    }

    /** An estimate: 0 and 1 are not rare. It decides which rules are evaluated in vain, never which match. */
    private int rarity() {
        boolean rareField = RARE_FIELDS.contains(field);
        return switch (kind) {
            case PRESENT -> rareField ? RARE_FIELD : 0;
            case NUMBER -> number == 0 || number == 1 ? 1 : RARE_NUMBER;
            case WHOLE, PART -> Math.max(SelectivityEstimator.of(text), rareField ? RARE_FIELD + 1 : ofVerb());
        };
    }

    private int ofVerb() {
        return field.equals(VERB) && !text.isEmpty() && !text.equals(MOST_FREQUENT_VERB) ? 2 : 0;
    }
}
