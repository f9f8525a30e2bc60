package io.tailrace.detection.detector;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.sigma.rule.RuleHeader;
import java.io.DataInput;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A detector whose behaviour depends only on its definition.
 *
 * @param <S> the state of one entity; only states of this detector are passed to it
 */
public abstract class AbstractDetector<S extends DetectorState> implements StatefulDetector {

    public final DetectorDefinition basis;
    private final Supplier<S> newState;

    /** @param newState creates the state of an entity that was never seen */
    public AbstractDetector(DetectorDefinition basis, Supplier<S> newState) {
        this.basis = basis;
        this.newState = newState;
    }

    @Override
    public final RuleHeader header() {
        return basis.header();
    }

    @Override
    public final long ttlMicros() {
        return basis.ttlMicros();
    }

    @Override
    public final DetectorState newState() {
        return newState.get();
    }

    @Override
    public final DetectorState readState(DataInput in) throws IOException {
        S state = newState.get();
        state.read(in);
        return state;
    }

    @Override
    @SuppressWarnings("unchecked")
    public final boolean update(DetectorState state, Observation observation, Consumer<RaisedAlert> alerts) {
        return apply((S) state, observation, alerts);
    }

    /** As {@link #update}. */
    protected abstract boolean apply(S state, Observation observation, Consumer<RaisedAlert> alerts);
}
