package netbench;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The worker of the stack java: JSSE, with only the standard library. It speaks docs/WORKER-PROTOCOL.md.
 *
 * <p>Start reading at {@link #main}, then at {@link #act}. The other classes are:
 *
 * <ul>
 *   <li>Json, Answers: messages; Describe: the description of the stack
 *   <li>Settings, Identity, Pem: the configuration of JSSE
 *   <li>Connector, Visit, Trust, Wire, Sniffer, Signatures, Explain: one measured connection; Http1, Http2, Frames, Hpack: its request
 *   <li>Server, Site, ServedHttp2, Stapling, Faults: the lab's server
 *   <li>Chains, Handshake: chains of certificates without a connection
 *   <li>Suite, Sides, Pair, Alone, Bulk, Threads, Hold: the in-memory suite
 * </ul>
 */
final class Main {
    static final String STACK = "java";

    private static final int LONGEST_QUEUE = 1024;

    private Connector connector;
    private Server server;
    private Suite suite;

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        // Output of other code must not appear between answers.
        System.setOut(System.err);
        LinkedBlockingQueue<byte[]> lines = new LinkedBlockingQueue<>(LONGEST_QUEUE);
        Thread reader = new Thread(() -> read(lines), "stdin");
        reader.setDaemon(true);
        reader.start();
        Main worker = new Main();
        while (true) {
            String line = new String(lines.take(), StandardCharsets.UTF_8);
            out.print(worker.answer(line) + "\n");
            out.flush();
            if (out.checkError()) {
                end(0);
            }
        }
    }

    /** Passes on the lines of stdin. The end of stdin ends the process, whatever it is doing. */
    private static void read(LinkedBlockingQueue<byte[]> lines) {
        try {
            InputStream in = new BufferedInputStream(System.in, 1 << 16);
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            for (int b = in.read(); b >= 0; b = in.read()) {
                if (b != '\n') {
                    line.write(b);
                } else if (line.size() > 0) {
                    lines.put(line.toByteArray());
                    line = new ByteArrayOutputStream();
                }
            }
            end(0);
        } catch (IOException | InterruptedException error) {
            System.err.println("reading requests: " + error);
            end(1);
        }
    }

    private static void end(int code) {
        // The process does not exit normally: that would wait for other threads.
        Runtime.getRuntime().halt(code);
    }

    private String answer(String line) {
        String id = "0";
        Map<String, Object> answer;
        try {
            Json request = Json.parse(line);
            id = request.unsigned("id");
            answer = act(request.text("op"), request);
        } catch (Unsupported unsupported) {
            answer = Answers.of("unsupported");
            answer.put("reason", unsupported.getMessage());
        } catch (Json.Wrong | StackOverflowError wrong) {
            answer = Answers.error(wrong);
        } catch (Exception error) {
            answer = Answers.error(error);
        }
        Map<String, Object> whole = new LinkedHashMap<>();
        whole.put("id", new Json.Number(id));
        whole.putAll(answer);
        return Json.print(whole);
    }

    /** Performs the operation {@code op}. Throws an exception for a request that could not be parsed or performed. */
    private Map<String, Object> act(String op, Json request) throws Exception {
        return switch (op) {
            case "describe" -> Describe.answer();
            case "configure" -> configure(request);
            case "connect" -> connected().connect(request);
            case "serve" -> serve(request);
            case "counts" -> server == null ? Server.noCounts() : server.counts();
            case "prepare" -> prepare(request);
            case "slice" -> prepared().slice(request);
            case "hold" -> prepared().hold(request);
            case "verify" -> verify(request);
            default -> throw new Json.Wrong("not a request: unknown op " + op);
        };
    }

    private Map<String, Object> configure(Json request) throws Json.Wrong {
        ofThisStack(request);
        Connector made = new Connector(request);
        connector = made;
        return Answers.of("configured");
    }

    private Connector connected() throws Json.Wrong {
        if (connector == null) {
            throw new Json.Wrong("connect before configure");
        }
        return connector;
    }

    private Map<String, Object> serve(Json request) throws Json.Wrong, IOException {
        ofThisStack(request);
        if (server == null) {
            server = new Server();
        }
        return server.serve(request);
    }

    private Map<String, Object> prepare(Json request) throws Json.Wrong, Unsupported {
        ofThisStack(request);
        suite = null;
        Suite made = new Suite();
        Map<String, Object> answer = made.prepare(request);
        if (answer.get("type").equals("prepared")) {
            suite = made;
        }
        return answer;
    }

    private static Map<String, Object> verify(Json request) throws Json.Wrong, Unsupported {
        ofThisStack(request);
        return Chains.verify(request);
    }

    private Suite prepared() throws Json.Wrong {
        if (suite == null) {
            throw new Json.Wrong("no scenario is prepared");
        }
        return suite;
    }

    private static void ofThisStack(Json request) throws Json.Wrong {
        if (!request.text("stack").equals(STACK)) {
            throw new Json.Wrong("this worker has no stack " + request.text("stack"));
        }
    }
}
