package netbench;

import java.nio.ByteBuffer;
import java.util.Map;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;

/**
 * Two sides of a session in one thread, joined by buffers.
 *
 * <p>A step is the work of a side from the moment that it has the other's data until it needs more: it reads records, runs the
 * tasks into which JSSE puts long work, in the same thread, and writes records. The making of a side belongs to its first
 * step.
 */
final class Pair {
    /** The number of flights after which an unfinished handshake is considered endless. */
    private static final int MOST_FLIGHTS = 10;
    private static final int PACKET = 17 << 10;
    private static final int PLAINTEXT = 32 << 10;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Sides sides;
    private final int slot;
    private ByteBuffer toServer = ByteBuffer.allocate(4 * PACKET);
    private ByteBuffer toClient = ByteBuffer.allocate(4 * PACKET);
    private ByteBuffer plaintext = ByteBuffer.allocate(PLAINTEXT);
    private final Sniffer sniffer = new Sniffer();
    private SSLEngine client;
    private SSLEngine server;
    Meter clientTime;
    Meter serverTime;

    Pair(Sides sides, int slot) {
        this.sides = sides;
        this.slot = slot;
    }

    /** Takes the session through its handshake, until each side has read all data from the other. */
    void handshake(boolean isCpu) throws SSLException {
        begin(isCpu);
        for (int flight = 0; flight < MOST_FLIGHTS && (toServer.position() > 0 || toClient.position() > 0); flight++) {
            serverStep();
            clientStep();
        }
        finished();
    }

    /** Makes the client and its first flight. */
    void begin(boolean isCpu) throws SSLException {
        clientTime = new Meter(isCpu);
        serverTime = new Meter(isCpu);
        clientStep();
    }

    void finished() throws SSLException {
        if (isOpen(client) || server == null || isOpen(server)) {
            throw new SSLException("the two sides wait for one another");
        }
    }

    /** Frees all memory except the library's own. */
    void drop() throws SSLException {
        finished();
        toServer = NOTHING;
        toClient = NOTHING;
        plaintext = NOTHING;
    }

    /** Makes the client's step, if there is work. */
    void clientStep() throws SSLException {
        if (client != null && toClient.position() == 0) {
            return;
        }
        sniffer.sent(toClient.array(), 0, toClient.position());
        clientTime.start();
        if (client == null) {
            client = sides.newClient(slot);
            client.beginHandshake();
        }
        step(client, toClient, toServer);
        clientTime.stop();
    }

    /** Makes the server's step, if there is work. */
    void serverStep() throws SSLException {
        if (toServer.position() == 0) {
            return;
        }
        serverTime.start();
        if (server == null) {
            server = sides.newServer();
            server.beginHandshake();
        }
        step(server, toServer, toClient);
        serverTime.stop();
    }

    private static boolean isOpen(SSLEngine engine) {
        return engine.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING;
    }

    private void step(SSLEngine engine, ByteBuffer in, ByteBuffer out) throws SSLException {
        in.flip();
        while (true) {
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK -> {
                    for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
                        task.run();
                    }
                }
                case NEED_WRAP -> wrap(engine, NOTHING, out);
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN, NOT_HANDSHAKING, FINISHED -> {
                    if (!in.hasRemaining()) {
                        in.clear();
                        return;
                    }
                    plaintext.clear();
                    SSLEngineResult result = engine.unwrap(in, plaintext);
                    if (result.getStatus() != Status.OK || plaintext.position() > 0) {
                        throw new SSLException("not a handshake: " + result.getStatus());
                    }
                }
            }
        }
    }

    private static void wrap(SSLEngine engine, ByteBuffer from, ByteBuffer to) throws SSLException {
        SSLEngineResult result = engine.wrap(from, to);
        if (result.getStatus() != Status.OK) {
            throw new SSLException("cannot send: " + result.getStatus());
        }
    }

    /** Makes the server write all of {@code from} into records. */
    void send(ByteBuffer from, ByteBuffer to) throws SSLException {
        while (from.hasRemaining()) {
            wrap(server, from, to);
        }
    }

    /** Makes the client read all of {@code from}, and returns the size of its plaintext. */
    long receive(ByteBuffer from) throws SSLException {
        long received = 0;
        while (from.hasRemaining()) {
            plaintext.clear();
            SSLEngineResult result = client.unwrap(from, plaintext);
            if (result.getStatus() != Status.OK) {
                throw new SSLException("cannot receive: " + result.getStatus());
            }
            received += plaintext.position();
        }
        return received;
    }

    boolean resumed() {
        return sniffer.resumed();
    }

    Map<String, Object> agreed(boolean isClient) {
        SSLEngine engine = isClient ? client : server;
        return sniffer.negotiated(engine.getSession(), null, null, isClient);
    }

    /** Removes sessions that are not to be resumed. */
    void end() {
        if (!sides.resumes() && client != null) {
            client.getSession().invalidate();
        }
    }
}
