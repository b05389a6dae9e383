package netbench;

import java.nio.ByteBuffer;
import javax.net.ssl.SSLException;

/** Data from a server to a client, in bursts of whole writes. */
final class Bulk implements Suite.Scenario {
    /** The burst size by which writes of under 64 KiB are timed: burst_bytes in netbench/tls/src/suite/measure.rs. */
    static final int BURST = 64 << 10;
    /** Room for the overhead of a record. */
    private static final int OVERHEAD = 64;
    private static final int RECORD = 16 << 10;

    private final Sides sides;
    private final ByteBuffer write;
    private final int writes;
    private final long amount;
    private final ByteBuffer records;
    private Pair pair;
    private long moved;

    Bulk(Sides sides, int writeBytes, long amount) {
        this.sides = sides;
        this.amount = amount;
        write = ByteBuffer.allocate(writeBytes);
        for (int i = 0; i < writeBytes; i++) {
            write.put(i, (byte) (i % 251));
        }
        writes = Math.max((BURST + writeBytes - 1) / writeBytes, 1);
        int perWrite = (writeBytes + RECORD - 1) / RECORD + 1;
        // JSSE requires room for a whole packet, however short the data.
        records = ByteBuffer.allocate(writes * (writeBytes + perWrite * OVERHEAD) + 2 * RECORD);
    }

    @Override
    public void turn(Suite.Turn turn) throws Suite.Failed {
        while (turn.goesOn()) {
            Meter sent = new Meter(turn.isCpu);
            Meter received = new Meter(turn.isCpu);
            burst(sent, received);
            turn.done++;
            turn.record("sent", sent.sumNs);
            turn.record("received", received.sumNs);
        }
    }

    /** Makes the server write, and then the client read all of the data. */
    void burst(Meter sent, Meter received) throws Suite.Failed {
        if (pair == null || moved >= amount) {
            renew();
        }
        records.clear();
        try {
            sent.start();
            for (int i = 0; i < writes; i++) {
                pair.send(write.rewind(), records);
            }
            sent.stop();
        } catch (SSLException error) {
            throw new Suite.Failed("send", error);
        }
        records.flip();
        long due = (long) writes * write.capacity();
        try {
            received.start();
            long came = pair.receive(records);
            received.stop();
            if (came != due) {
                throw new SSLException(came + " bytes arrived of " + due);
            }
        } catch (SSLException error) {
            throw new Suite.Failed("receive", error);
        }
        moved += due;
    }

    void renew() throws Suite.Failed {
        Pair made = new Pair(sides, 0);
        try {
            made.handshake(Meter.WALL);
        } catch (SSLException error) {
            throw new Suite.Failed("handshake", error);
        }
        pair = made;
        moved = 0;
    }
}
