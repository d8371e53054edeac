// Lets client libraries of Java fail against failing_server.py: one JSON line for each case, with the type, the message
// and the trace that an uncaught exception would print. Ports are masked.
//     java -cp JARS Raise.java '{"http": 1234, "closed": 1235, …}'
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Raise {
    static final Map<String, Integer> ports = new LinkedHashMap<>();

    static int waitMs(String where) {
        return where.equals("slow") || where.equals("silent") ? 300 : 30000;
    }

    interface Case { void run() throws Exception; }

    static String at(String where) {
        return where.equals("closed") ? "http://127.0.0.1:" + ports.get("closed") + "/"
            : "http://127.0.0.1:" + ports.get("http") + "/" + where;
    }

    static void javaNet(String where) throws Exception {
        HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(at(where))).timeout(Duration.ofMillis(waitMs(where)))
            .POST(HttpRequest.BodyPublishers.ofString("x")).build(), BodyHandlers.ofString());
    }

    static void connection(String where) throws Exception {
        var connection = new URL(at(where)).openConnection();
        connection.setReadTimeout(waitMs(where));
        connection.getInputStream();
    }

    static void okhttp(String where) throws Exception {
        var client = new okhttp3.OkHttpClient.Builder().readTimeout(waitMs(where), TimeUnit.MILLISECONDS).build();
        client.newCall(new okhttp3.Request.Builder().url(at(where)).build()).execute();
    }

    static void apache(String where) throws Exception {
        var config = org.apache.http.client.config.RequestConfig.custom().setSocketTimeout(waitMs(where)).build();
        try (var client = org.apache.http.impl.client.HttpClients.custom().setDefaultRequestConfig(config)
                 .disableAutomaticRetries().build()) {
            client.execute(new org.apache.http.client.methods.HttpGet(at(where)));
        }
    }

    static void postgres(String where) throws Exception {
        DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + ports.get(where)
            + "/d?user=worker&password=p&sslmode=disable&gssEncMode=disable&connectTimeout=30&socketTimeout=" + (where.equals("silent") ? 1 : 30));
    }

    static String masked(String text) {
        for (int port : ports.values()) text = text.replaceAll("\\b" + port + "\\b", "PORT");
        return text;
    }

    static String json(String text) {
        var out = new StringBuilder("\"");
        for (char c : text.toCharArray())
            out.append(c == '"' || c == '\\' ? "\\" + c : c < 32 ? String.format("\\u%04x", (int) c) : "" + c);
        return out.append('"').toString();
    }

    public static void main(String[] arguments) {
        Matcher member = Pattern.compile("\"(\\w+)\": *(\\d+)").matcher(arguments[0]);
        while (member.find()) ports.put(member.group(1), Integer.valueOf(member.group(2)));
        Map<String, Case> cases = new LinkedHashMap<>();
        for (String where : new String[] {"closed", "slow"}) {
            cases.put("java.net.http " + where, () -> javaNet(where));
            cases.put("okhttp " + where, () -> okhttp(where));
            cases.put("apache " + where, () -> apache(where));
        }
        for (String where : new String[] {"closed", "slow", "503"}) cases.put("HttpURLConnection " + where, () -> connection(where));
        for (String where : new String[] {"closed", "silent", "pg_auth", "pg_starting", "pg_full"})
            cases.put("postgresql " + where, () -> postgres(where));
        cases.put("bug NullPointerException", () -> ((String) null).length());
        cases.put("bug NumberFormatException", () -> Integer.parseInt("503 Service Unavailable"));
        cases.put("business error with a bug as its cause", () -> {
            try {
                ((String) null).length();
            } catch (NullPointerException bug) {
                throw new IllegalStateException("503 Service Unavailable", bug);
            }
        });
        cases.forEach((name, run) -> {
            try {
                run.run();
            } catch (Throwable error) {
                var trace = new StringWriter();
                error.printStackTrace(new PrintWriter(trace, true));
                System.out.println("{\"case\": " + json("java " + name) + ", \"type\": " + json(error.getClass().getName())
                    + ", \"message\": " + json(masked("" + error.getMessage())) + ", \"trace\": "
                    + json("Exception in thread \"main\" " + trace) + "}");
                return;
            }
            throw new IllegalStateException(name + ": nothing was raised");
        });
        System.exit(0);
    }
}
