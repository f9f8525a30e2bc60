package io.tailrace.cli.help;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The parts of a command's help that its declaration for picocli has no place for. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface HelpTexts {

    /** Command lines. */
    String[] examples();

    /** Commands and pages. */
    String[] seeAlso();

    /** The keys of the rows of {@code --output}, each as {@code key: meaning}. */
    String[] keys() default {};
}
