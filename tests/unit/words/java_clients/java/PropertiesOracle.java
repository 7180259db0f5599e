import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Properties;
import java.util.Scanner;

/** One properties file per line of stdin, base64; answers each with its entries, base64, or with the error. */
public class PropertiesOracle {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            byte[] content = Base64.getDecoder().decode(in.nextLine());
            StringBuilder answer = new StringBuilder("ok");
            try {
                Properties properties = new Properties();
                properties.load(new ByteArrayInputStream(content));
                for (String key : properties.stringPropertyNames()) {
                    answer.append(' ').append(encode(key)).append('=').append(encode(properties.getProperty(key)));
                }
            } catch (Exception error) {
                answer = new StringBuilder("error " + encode(error.toString()));
            }
            System.out.println(answer);
        }
    }

    private static String encode(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
