package netbench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The same work on many threads that share both configurations. */
final class Threads implements Suite.Scenario {
    /** The size of one write of every thread, in bytes. */
    private static final int WRITE = 16 << 10;

    private final Sides sides;
    private final int threads;
    private final boolean makesHandshakes;

    Threads(Sides sides, int threads, boolean makesHandshakes) {
        this.sides = sides;
        this.threads = threads;
        this.makesHandshakes = makesHandshakes;
    }

    private record Part(Suite.Turn turn, long tookNs) {}

    @Override
    public void turn(Suite.Turn turn) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        CyclicBarrier ready = new CyclicBarrier(threads);
        double perNs = 0;
        try {
            List<Future<Part>> parts = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int slot = i + 1;
                parts.add(pool.submit(() -> part(turn, slot, ready)));
            }
            for (Future<Part> future : parts) {
                Part part = future.get();
                perNs += (double) part.turn.done / Math.max(part.tookNs, 1);
                turn.done += part.turn.done;
                turn.handshakes += part.turn.handshakes;
                turn.clientResumed += part.turn.clientResumed;
                turn.serverResumed += part.turn.serverResumed;
            }
        } catch (ExecutionException error) {
            throw error.getCause() instanceof Exception cause ? cause : error;
        } finally {
            pool.shutdownNow();
        }
        turn.record("both", Math.round(1 / perNs));
    }

    /** Runs one thread's work, from the moment at which all are ready. */
    private Part part(Suite.Turn whole, int slot, CyclicBarrier ready) throws Exception {
        Bulk bulk = new Bulk(sides, WRITE, Long.MAX_VALUE);
        if (!makesHandshakes) {
            bulk.renew();
        } else if (sides.resumes()) {
            // Every thread has a separate session to resume.
            Suite.handshake(sides, slot, new Suite.Turn(whole));
        }
        ready.await();
        Suite.Turn turn = new Suite.Turn(whole);
        while (turn.goesOn()) {
            if (makesHandshakes) {
                Suite.handshake(sides, slot, turn);
            } else {
                bulk.burst(new Meter(Meter.WALL), new Meter(Meter.WALL));
            }
            turn.done++;
        }
        return new Part(turn, turn.tookNs());
    }
}
