import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.MapperConfig;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.strimzi.api.kafka.model.topic.KafkaTopic;
import io.strimzi.api.kafka.model.user.KafkaUser;
import java.io.IOException;
import java.util.Map;
import org.apache.flink.kubernetes.operator.api.FlinkDeployment;

/**
 * Decodes resources with the operators' own types, and refuses what these do not know.
 *
 * <p>Standard input: a JSON array of resources. Prints a line for each that cannot be decoded, and exits with 1 if there
 * is one.
 */
public final class Decode {

    private static final Map<String, Class<?>> TYPES = Map.of(
            "FlinkDeployment", FlinkDeployment.class, "KafkaTopic", KafkaTopic.class, "KafkaUser", KafkaUser.class);

    private Decode() {}

    public static void main(String[] arguments) throws IOException {
        ObjectMapper mapper = strictMapper();
        boolean failed = false;
        for (JsonNode resource : mapper.readTree(System.in)) {
            String kind = resource.required("kind").textValue();
            try {
                mapper.treeToValue(resource, TYPES.get(kind));
            } catch (JsonProcessingException e) {
                System.out.println(kind + " " + resource.at("/metadata/name").textValue() + ": " + e.getMessage());
                failed = true;
            }
        }
        System.exit(failed ? 1 : 0);
    }

    /** Most of these types keep unknown properties in a map or ignore them, and would never complain. */
    private static ObjectMapper strictMapper() {
        return new ObjectMapper()
                .registerModule(new JavaTimeModule())
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .setAnnotationIntrospector(new JacksonAnnotationIntrospector() {
                    @Override
                    public Boolean hasAnySetter(Annotated annotated) {
                        return false;
                    }

                    @Override
                    public JsonIgnoreProperties.Value findPropertyIgnoralByName(
                            MapperConfig<?> config, Annotated annotated) {
                        return super.findPropertyIgnoralByName(config, annotated).withoutIgnoreUnknown();
                    }
                });
    }
}
