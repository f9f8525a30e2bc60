package io.tailrace.flink.kafka;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.apache.flink.api.common.JobInfo;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.metrics.groups.SinkWriterMetricGroup;
import org.apache.flink.util.UserCodeClassLoader;

/** The context of a writer that gets {@link RareTimers}. */
final class RareTimersContext implements WriterInitContext {

    private final WriterInitContext context;

    RareTimersContext(WriterInitContext context) {
        this.context = context;
    }

    @Override
    public ProcessingTimeService getProcessingTimeService() {
        return new RareTimers(context.getProcessingTimeService());
    }

    @Override
    public UserCodeClassLoader getUserCodeClassLoader() {
        return context.getUserCodeClassLoader();
    }

    @Override
    public MailboxExecutor getMailboxExecutor() {
        return context.getMailboxExecutor();
    }

    @Override
    public SinkWriterMetricGroup metricGroup() {
        return context.metricGroup();
    }

    @Override
    public SerializationSchema.InitializationContext asSerializationSchemaInitializationContext() {
        return context.asSerializationSchemaInitializationContext();
    }

    @Override
    public boolean isObjectReuseEnabled() {
        return context.isObjectReuseEnabled();
    }

    @Override
    public <I> TypeSerializer<I> createInputSerializer() {
        return context.createInputSerializer();
    }

    @Override
    public <M> Optional<Consumer<M>> metadataConsumer() {
        return context.metadataConsumer();
    }

    @Override
    public OptionalLong getRestoredCheckpointId() {
        return context.getRestoredCheckpointId();
    }

    @Override
    public JobInfo getJobInfo() {
        return context.getJobInfo();
    }

    @Override
    public TaskInfo getTaskInfo() {
        return context.getTaskInfo();
    }
}
