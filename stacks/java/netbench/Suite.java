package netbench;

import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;

/** A scenario of the in-memory suite. */
final class Suite {
    /** The limits that protect a machine's memory, as in netbench/worker/src/suite/prepared.rs. */
    private static final long MOST_WRITE = 64 << 20;
    private static final long MOST_THREADS = 1_024;
    private static final long MOST_FRAGMENT = 16 << 10;

    /** Runs one turn. */
    interface Scenario {
        void turn(Turn turn) throws Exception;
    }

    /** The measurements of one turn, and its end. */
    static final class Turn {
        final boolean isCpu;
        private final Long operations;
        private final long microseconds;
        private final long begun = System.nanoTime();
        private final Map<String, List<Object>> timings = new LinkedHashMap<>();
        long done;
        long handshakes;
        long clientResumed;
        long serverResumed;

        Turn(Json request) throws Json.Wrong {
            Json limit = request.object("limit");
            operations = limit.has("operations") ? limit.number("operations") : null;
            microseconds = limit.has("microseconds") ? limit.number("microseconds") : 0;
            isCpu = request.text("clocks").equals("cpu");
        }

        /** Makes one thread's part of a turn that begins now. */
        Turn(Turn whole) {
            operations = whole.operations;
            microseconds = whole.microseconds;
            isCpu = false;
        }

        /** Returns whether another operation belongs to the turn. There is always a first. */
        boolean goesOn() {
            if (operations != null) {
                return done < operations;
            }
            return done == 0 || System.nanoTime() - begun < microseconds * 1_000;
        }

        long tookNs() {
            return System.nanoTime() - begun;
        }

        void record(String measure, long ns) {
            timings.computeIfAbsent(measure, none -> new ArrayList<>()).add(Math.max(ns, 1));
        }

        Map<String, Object> answer() {
            Map<String, Object> answer = Answers.of("sliced");
            answer.put("operations", done);
            answer.put("timings_ns", timings);
            // The loops of netbench/worker/src/suite/reference.rs must be the same machine code everywhere,
            // which Java's would not be.
            answer.put("reference", null);
            answer.put("handshakes", handshakes);
            answer.put("client_resumed", clientResumed);
            answer.put("server_resumed", serverResumed);
            return answer;
        }
    }

    /** An attempted step, in a word of FailureWord, with its error. */
    static final class Failed extends Exception {
        private static final long serialVersionUID = 1;
        private final String word;

        Failed(String word, Throwable why) {
            super(why);
            this.word = word;
        }

        Map<String, Object> answer() {
            return Answers.setup(word, getCause());
        }
    }

    private Scenario scenario;
    private Sides sides;

    Map<String, Object> prepare(Json request) throws Json.Wrong, Unsupported {
        Json whole = request.object("scenario");
        Json work = whole.object("work");
        Json material = request.object("material");
        try {
            return prepare(work, material);
        } catch (Failed failed) {
            return failed.answer();
        } catch (GeneralSecurityException | RuntimeException error) {
            return Answers.setup("setup", error);
        }
    }

    private Map<String, Object> prepare(Json work, Json material)
            throws Json.Wrong, Unsupported, Failed, GeneralSecurityException {
        String part = work.text("part");
        switch (part) {
            case "crypto" -> throw new Unsupported("this worker does not time Java's cryptography beneath its sessions");
            case "verify", "connector" -> {
                if (part.equals("verify")) {
                    Settings.withoutMlDsa(List.of(work.text("key")));
                }
                scenario = part.equals("verify") ? Alone.verification(material) : Alone.configuration(work.text("form"), material);
                Map<String, Object> answer = Answers.of("prepared");
                answer.put("client", null);
                answer.put("server", null);
                return answer;
            }
            default -> { }
        }
        withinBounds(work);
        Json parallel = part.equals("threads") && work.handshakes() ? work.object("work") : null;
        String kind = part.equals("handshake") ? work.text("kind") : parallel != null ? parallel.text("handshake") : Sides.FULL;
        sides = new Sides(work.object("settings"), kind, material);
        Map<String, Object> answer;
        try {
            answer = sides.agreed();
        } catch (SSLException error) {
            throw new Failed("handshake", error);
        }
        scenario = switch (part) {
            case "handshake", "memory" -> this::handshakes;
            case "bulk" -> new Bulk(sides, (int) work.number("write_bytes"), work.number("amount_bytes"));
            case "threads" -> new Threads(sides, (int) work.number("threads"), parallel != null);
            default -> throw new Json.Wrong("unknown part of the suite " + part);
        };
        return answer;
    }

    private static void withinBounds(Json work) throws Json.Wrong, Unsupported, Failed {
        if (work.has("write_bytes") && (work.number("write_bytes") < 1 || work.number("write_bytes") > MOST_WRITE)) {
            throw new Failed("setup", new SSLException("a write has 1 to " + MOST_WRITE + " bytes"));
        }
        if (work.has("threads") && (work.number("threads") < 1 || work.number("threads") > MOST_THREADS)) {
            throw new Failed("setup", new SSLException("there are 1 to " + MOST_THREADS + " threads"));
        }
        if (work.has("heap") && work.text("heap").equals("young")) {
            throw new Unsupported("Java manages the heap itself, and its collector determines the state");
        }
        if (work.has("max_fragment_bytes")) {
            long bytes = work.number("max_fragment_bytes");
            if (bytes < 1 || bytes > MOST_FRAGMENT) {
                throw new Failed("setup", new SSLException("records have 1 to " + MOST_FRAGMENT + " bytes"));
            }
            throw new Unsupported("JSSE can be told how long packets may be, and not how much plaintext is in a record");
        }
    }

    Map<String, Object> slice(Json request) throws Json.Wrong {
        Turn turn = new Turn(request);
        try {
            scenario.turn(turn);
        } catch (Failed failed) {
            return failed.answer();
        } catch (Exception error) {
            return Answers.setup("setup", error);
        }
        return turn.answer();
    }

    Map<String, Object> hold(Json request) throws Json.Wrong {
        if (sides == null) {
            return Answers.setup("hold", new SSLException("the scenario has no sessions"));
        }
        try {
            return Hold.sessions(sides, request.number("sessions"));
        } catch (Failed failed) {
            return failed.answer();
        }
    }

    private void handshakes(Turn turn) throws Failed {
        while (turn.goesOn()) {
            Pair pair = handshake(sides, 0, turn);
            turn.done++;
            turn.record("client", pair.clientTime.sumNs);
            turn.record("server", pair.serverTime.sumNs);
        }
    }

    /** Makes a handshake that counts. */
    static Pair handshake(Sides sides, int slot, Turn turn) throws Failed {
        Pair pair = new Pair(sides, slot);
        try {
            pair.handshake(turn.isCpu);
        } catch (SSLException error) {
            throw new Failed("handshake", error);
        }
        pair.end();
        int resumed = pair.resumed() ? 1 : 0;
        turn.handshakes++;
        turn.clientResumed += resumed;
        turn.serverResumed += resumed;
        return pair;
    }
}
