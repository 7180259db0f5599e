import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import joptsimple.ArgumentAcceptingOptionSpec;
import joptsimple.OptionParser;
import joptsimple.OptionSet;
import joptsimple.OptionSpecBuilder;

/**
 * What a release of joptsimple makes of words; the recorder of compat/recorded/joptsimple.json.
 *
 * Arguments: a file with one option per line (name|description|argument|type|default) and, if names
 * must not be cut short, a second word. Standard input: one call per line, each word after a byte 1;
 * the line HELP asks for the help. Standard output: one line for each, newlines as byte 2.
 */
public class Joptsimple {
    public static void main(String[] arguments) throws Exception {
        List<String> options = Files.readAllLines(Path.of(arguments[0]));
        BufferedReader calls = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String call = calls.readLine(); call != null; call = calls.readLine()) {
            OptionParser parser = arguments.length > 1
                ? OptionParser.class.getConstructor(boolean.class).newInstance(false)
                : new OptionParser();
            List<String> names = declare(parser, options);
            System.out.println(answer(parser, names, call).replace('\n', '\u0002'));
        }
    }

    private static List<String> declare(OptionParser parser, List<String> options) {
        List<String> names = new ArrayList<>();
        for (String option : options) {
            String[] parts = option.split("\\|", -1);
            names.add(parts[0]);
            OptionSpecBuilder builder = parser.accepts(parts[0], parts[1]);
            if (parts[2].isEmpty()) {
                continue;
            }
            ArgumentAcceptingOptionSpec<String> spec = builder.withRequiredArg().describedAs(parts[2]);
            if (parts[3].equals("Integer")) {
                spec.ofType(Integer.class).defaultsTo(Integer.valueOf(parts[4]));
            } else if (!parts[4].isEmpty()) {
                spec.ofType(String.class).defaultsTo(parts[4]);
            } else {
                spec.ofType(String.class);
            }
        }
        return names;
    }

    private static String answer(OptionParser parser, List<String> names, String call) throws Exception {
        if (call.equals("HELP")) {
            StringWriter help = new StringWriter();
            parser.printHelpOn(help);
            return help.toString();
        }
        StringBuilder said = new StringBuilder();
        try {
            OptionSet found = parser.parse(call.isEmpty() ? new String[0] : call.substring(1).split("\u0001", -1));
            for (String name : names) {
                if (found.has(name)) {
                    said.append(name).append('=').append(value(found, name)).append(';');
                }
            }
        } catch (RuntimeException error) {
            said.append(chain(error));
        }
        return said.toString();
    }

    private static String value(OptionSet found, String name) {
        try {
            return String.valueOf(found.valueOf(name));
        } catch (RuntimeException error) {
            return chain(error);
        }
    }

    private static String chain(Throwable error) {
        String text = error.toString();
        for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause()) {
            text += "\nCaused by: " + cause;
        }
        return text;
    }
}
