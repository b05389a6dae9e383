package netbench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;

/** Takes many sessions through the handshake in lock step, and returns the memory of holding them. */
final class Hold {
    private static final long MOST_SESSIONS = 1_000_000;
    private static final int MOST_FLIGHTS = 10;

    private Hold() {}

    /** Measures held sessions. Earlier garbage is collected first; garbage that the sessions add and Java has not collected counts. */
    static Map<String, Object> sessions(Sides sides, long sessions) throws Suite.Failed {
        if (sessions < 0 || sessions > MOST_SESSIONS) {
            throw new Suite.Failed("hold", new SSLException("at most " + MOST_SESSIONS + " sessions"));
        }
        try {
            new Pair(sides, 0).handshake(Meter.WALL);
            System.gc();
            long before = bytes("/proc/self/smaps_rollup", "Rss:");
            List<Pair> pairs = new ArrayList<>();
            for (int i = 0; i < sessions / 2; i++) {
                pairs.add(new Pair(sides, 0));
            }
            lockStep(pairs);
            long after = bytes("/proc/self/smaps_rollup", "Rss:");
            long peak = bytes("/proc/self/status", "VmHWM:");
            Map<String, Object> answer = Answers.of("held");
            answer.put("sessions", 2L * pairs.size());
            answer.put("peak_bytes", Math.max(peak, Math.max(before, after)));
            answer.put("before_bytes", before);
            answer.put("after_bytes", after);
            answer.put("heap", null);
            return answer;
        } catch (SSLException error) {
            throw new Suite.Failed("handshake", error);
        } catch (IOException error) {
            throw new Suite.Failed("memory", error);
        }
    }

    private static void lockStep(List<Pair> pairs) throws SSLException {
        for (Pair pair : pairs) {
            pair.begin(Meter.WALL);
        }
        for (int flight = 0; flight < MOST_FLIGHTS; flight++) {
            for (Pair pair : pairs) {
                pair.serverStep();
            }
            for (Pair pair : pairs) {
                pair.clientStep();
            }
        }
        for (Pair pair : pairs) {
            pair.drop();
        }
    }

    private static long bytes(String file, String name) throws IOException {
        for (String line : Files.readAllLines(Path.of(file))) {
            if (line.startsWith(name)) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
            }
        }
        throw new IOException("no " + name + " in " + file);
    }
}
