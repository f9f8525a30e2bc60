import io.fabric8.crdv2.generator.CRDGenerator;
import io.strimzi.api.kafka.model.topic.KafkaTopic;
import io.strimzi.api.kafka.model.user.KafkaUser;
import java.io.File;

/** {@code java -cp 'JARS/*' Generate.java DIRECTORY}: writes definitions from the types' own annotations. */
public final class Generate {

    private Generate() {}

    public static void main(String[] arguments) {
        var generated = new CRDGenerator()
                .customResourceClasses(KafkaTopic.class, KafkaUser.class)
                .forCRDVersions("v1")
                .inOutputDir(new File(arguments[0]))
                .detailedGenerate();
        System.out.println(generated.numberOfGeneratedCRDs());
    }
}
