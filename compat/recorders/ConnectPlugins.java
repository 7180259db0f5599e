import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.connector.policy.AllConnectorClientConfigOverridePolicy;
import org.apache.kafka.connect.runtime.Worker;
import org.apache.kafka.connect.runtime.isolation.Plugins;
import org.apache.kafka.connect.runtime.rest.RestRequestTimeout;
import org.apache.kafka.connect.runtime.rest.entities.ConfigInfos;
import org.apache.kafka.connect.runtime.rest.resources.ConnectorPluginsResource;
import org.apache.kafka.connect.runtime.standalone.StandaloneConfig;
import org.apache.kafka.connect.runtime.standalone.StandaloneHerder;
import org.apache.kafka.connect.storage.MemoryOffsetBackingStore;

/**
 * What Connect's REST API says of connectors' configuration; the recorder of compat/recorded/facts/connect-plugins.json.
 *
 * It asks the resource of the API in a worker that has no broker. Standard input: a request in JSON a line, with
 * "plugin" and either "validate" (a configuration) or nothing (its definitions), or with "connectorsOnly". Standard
 * output: for each a line with the body, or with "error" and "status". Sentences of documentation are left out.
 */
public class ConnectPlugins {
    public static void main(String[] arguments) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        Map<String, String> worker = new HashMap<>();
        worker.put("bootstrap.servers", "nowhere.invalid:1");
        worker.put("key.converter", "org.apache.kafka.connect.converters.ByteArrayConverter");
        worker.put("value.converter", "org.apache.kafka.connect.converters.ByteArrayConverter");
        worker.put("offset.storage.file.filename", "/dev/null");
        worker.put("plugin.discovery", "only_scan");
        Plugins plugins = new Plugins(worker);
        StandaloneConfig config = new StandaloneConfig(worker) {
            @Override
            public String kafkaClusterId() {
                return "none";
            }
        };
        AllConnectorClientConfigOverridePolicy policy = new AllConnectorClientConfigOverridePolicy();
        Worker runs = new Worker("none:1", Time.SYSTEM, plugins, config, new MemoryOffsetBackingStore() {
            @Override
            public java.util.Set<Map<String, Object>> connectorPartitions(String name) {
                return java.util.Set.of();
            }
        }, policy);
        StandaloneHerder herder = new StandaloneHerder(runs, "none", policy);
        ConnectorPluginsResource resource =
            new ConnectorPluginsResource(herder, RestRequestTimeout.constant(TimeUnit.MINUTES.toMillis(1), 0));
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            JsonNode answer;
            try {
                answer = mapper.valueToTree(answer(mapper, resource, mapper.readTree(line)));
                withoutDocumentation(answer);
            } catch (Exception error) {
                ObjectNode node = mapper.createObjectNode();
                node.put("error", error.getMessage());
                node.put("class", error.getClass().getSimpleName());
                answer = node;
            }
            System.out.println(mapper.writeValueAsString(answer));
        }
        System.exit(0);
    }

    private static Object answer(ObjectMapper mapper, ConnectorPluginsResource resource, JsonNode request)
            throws Exception {
        if (request.has("connectorsOnly")) {
            return resource.listConnectorPlugins(request.get("connectorsOnly").asBoolean());
        }
        String plugin = request.get("plugin").asText();
        if (!request.has("validate")) {
            return resource.getConnectorConfigDef(plugin, null);
        }
        Map<String, String> config = new LinkedHashMap<>();
        request.get("validate").fields().forEachRemaining(
            each -> config.put(each.getKey(), each.getValue().isNull() ? null : each.getValue().asText()));
        try {
            return resource.validateConfigs(plugin, config);
        } catch (Exception error) {
            throw error;
        } catch (Throwable error) {
            throw new IllegalStateException(error);
        }
    }

    private static void withoutDocumentation(JsonNode node) {
        if (node instanceof ObjectNode) {
            ((ObjectNode) node).remove("documentation");
        }
        node.forEach(ConnectPlugins::withoutDocumentation);
    }
}
