package io.tailrace.detection.coverage;

import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The fields and event classes that a log has shown: the input for deciding which rules can fire on it. It only grows.
 * Not thread-safe.
 *
 * <p>Memory: the fields of the taxonomy, and at most {@value #MAX_OTHERS} fields whose names come from logs, clients
 * and applications. A log with more of them counts as having every such field, because the missing ones are unknown.
 */
public final class ObservedFields {

    private static final byte VERSION = 1;

    /** Maximum number of fields outside of the taxonomy: attributes, details, tags. */
    static final int MAX_OTHERS = 1_000;
    /** The parsers produce six event classes. */
    private static final int MAX_CLASSES = 100;
    /** Maximum length of the name of a field or class, in characters; no rule uses a longer one. */
    private static final int MAX_NAME_LENGTH = 500;

    private static final String EVENT_CLASS = DatabaseField.EVENT_CLASS.fieldName();

    /** Fields of messages of an error log; the kind of a message determines which of them it has. */
    private static final String DETAIL = "detail.";

    /** Names by themselves, so that all logs have the same texts. */
    private static final Map<String, String> TAXONOMY = Arrays.stream(DatabaseField.values())
            .map(DatabaseField::fieldName)
            .collect(Collectors.toUnmodifiableMap(name -> name, name -> name));

    /** Fields that an event with known tables has if its tables belong to a data class. */
    private static final Set<String> OF_DATA_CLASSES = names(
            DatabaseField.DATA_CLASS,
            DatabaseField.DATA_CLASS_READ,
            DatabaseField.DATA_CLASS_WRITTEN,
            DatabaseField.DATA_BASIS,
            DatabaseField.DATA_ACCESS);

    /** Fields for tables, and for accounts whose privileges a statement changes. */
    private static final Set<String> OF_STATEMENTS = names(
            DatabaseField.TABLE,
            DatabaseField.TABLE_READ,
            DatabaseField.TABLE_WRITTEN,
            DatabaseField.TABLES_BASIS,
            DatabaseField.TARGET_ACCOUNT,
            DatabaseField.TARGET_USER);

    /** Fields that the collector adds, which identify the server. */
    private static final Set<String> OF_COLLECTORS = names(DatabaseField.CLUSTER, DatabaseField.INSTANCE);

    private final Set<String> fields = new TreeSet<>();
    private final Set<String> eventClasses = new TreeSet<>();
    private int others;

    private static Set<String> names(DatabaseField first, DatabaseField... more) {
        return EnumSet.of(first, more).stream().map(DatabaseField::fieldName).collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Adds the fields of an event, before it is enriched with fields that its log does not contain.
     *
     * @return whether a field or class is new
     */
    public boolean add(DetectionEvent event) {
        boolean isNew = addFields(event.fields().keySet());
        for (FieldValue eventClass : event.values(EVENT_CLASS)) {
            isNew |= addClass(eventClass.text());
        }
        return isNew;
    }

    /** Adds the fields of another part of the same log; returns whether a field or class is new. */
    public boolean addAll(ObservedFields part) {
        boolean isNew = addFields(part.fields);
        for (String eventClass : part.eventClasses) {
            isNew |= addClass(eventClass);
        }
        return isNew;
    }

    private boolean addFields(Collection<String> names) {
        boolean isNew = false;
        for (String name : names) {
            isNew |= addField(name);
        }
        return isNew;
    }

    private boolean addField(String name) {
        if (fields.contains(name)) {
            return false;
        }
        String ofTaxonomy = TAXONOMY.get(name);
        if (ofTaxonomy != null) {
            return fields.add(ofTaxonomy);
        }
        boolean isKept = others < MAX_OTHERS && name.length() <= MAX_NAME_LENGTH;
        others += isKept ? 1 : 0;
        return isKept && fields.add(name);
    }

    private boolean addClass(String eventClass) {
        return eventClasses.size() < MAX_CLASSES
                && eventClass.length() <= MAX_NAME_LENGTH
                && eventClasses.add(eventClass);
    }

    /** Returns whether no event was added yet. */
    public boolean isEmpty() {
        return fields.isEmpty();
    }

    /** Returns the classes of its events, in alphabetical order. */
    Set<String> eventClasses() {
        return eventClasses;
    }

    /**
     * Returns whether an event of such a log may have a field: a field that an event had, or one that depends on the
     * outcome, such as the error code in a log that contains outcomes but no failed statement yet. In an error log this
     * includes the details of messages of any kind, such as those of a refused login.
     *
     * @param withDataClasses whether data classes are configured
     */
    boolean mayHave(String field, boolean withDataClasses) {
        return fields.contains(field)
                || others >= MAX_OTHERS && !TAXONOMY.containsKey(field)
                || field.equals(DatabaseField.FLAG.fieldName())
                || OF_COLLECTORS.contains(field)
                || field.equals(DatabaseField.ERROR_CODE.fieldName()) && has(DatabaseField.STATUS)
                || field.equals(DatabaseField.LOGIN.fieldName())
                        && (has(DatabaseField.COMMAND) || has(DatabaseField.KIND))
                || field.startsWith(DETAIL) && has(DatabaseField.KIND)
                || OF_STATEMENTS.contains(field) && has(DatabaseField.STATEMENT)
                || withDataClasses
                        && OF_DATA_CLASSES.contains(field)
                        && mayHave(DatabaseField.TABLE.fieldName(), false);
    }

    private boolean has(DatabaseField field) {
        return fields.contains(field.fieldName());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ObservedFields same
                && fields.equals(same.fields)
                && eventClasses.equals(same.eventClasses);
    }

    @Override
    public int hashCode() {
        return Objects.hash(fields, eventClasses);
    }

    /** Writes the fields, beginning with the version. */
    public void write(DataOutput out) throws IOException {
        out.writeByte(VERSION);
        write(fields, out);
        write(eventClasses, out);
    }

    private static void write(Set<String> texts, DataOutput out) throws IOException {
        out.writeInt(texts.size());
        for (String text : texts) {
            out.writeUTF(text);
        }
    }

    /** Reads the output of {@link #write}. */
    public static ObservedFields read(DataInput in) throws IOException {
        byte version = in.readByte();
        if (version != VERSION) {
            throw new IOException("expected contents of a log of version " + VERSION + ", found " + version);
        }
        ObservedFields contents = new ObservedFields();
        for (int count = in.readInt(); count > 0; count--) {
            contents.addField(in.readUTF());
        }
        for (int count = in.readInt(); count > 0; count--) {
            contents.addClass(in.readUTF());
        }
        return contents;
    }
}
