package netbench;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLSocket;

/** The behaviour of servers with faults. */
final class Faults {
    private static final List<String> BEFORE_TLS =
            List.of("refuse", "silent", "reset", "garbage", "endless-certificate", "close-mid-handshake");
    /** The maximum time for which a silent server stays silent. */
    private static final int PATIENCE_MS = 60_000;
    /** The time between the bytes of a slow response. */
    private static final int PAUSE_MS = 500;
    /** The maximum size of an endless message. */
    private static final int ENDLESS_BYTES = 64 << 20;
    private static final int RECORD_BYTES = 16 << 10;

    private Faults() {}

    /** Returns whether the fault prevents a handshake. */
    static boolean areBeforeTls(String fault) {
        return BEFORE_TLS.contains(fault);
    }

    /** Applies a fault to a new connection. */
    static void commit(String fault, Socket tcp) throws IOException {
        tcp.setSoTimeout(PATIENCE_MS);
        switch (fault) {
            case "silent" -> drain(tcp.getInputStream());
            case "reset" -> {
                // Directly after the accept, the reset would race with the client's connect.
                readSome(tcp);
                tcp.setSoLinger(true, 0);
            }
            case "garbage" -> {
                readSome(tcp);
                byte[] garbage = new byte[4096];
                for (int i = 0; i < garbage.length; i++) {
                    garbage[i] = (byte) (i * 0x9e3779b1 >>> 24);
                }
                tcp.getOutputStream().write(garbage);
                hangUp(tcp);
            }
            case "endless-certificate" -> {
                readSome(tcp);
                endlessCertificate(tcp.getOutputStream());
            }
            case "close-mid-handshake" -> {
                readSome(tcp);
                hangUp(tcp);
            }
            default -> { }
        }
    }

    /** Answers inside TLS with bytes that are not HTTP in either version. */
    static void badHttp(SSLSocket tls) throws IOException {
        tls.getInputStream().read(new byte[RECORD_BYTES]);
        tls.getOutputStream().write("\033[31mnot a response\r\n\r\n".repeat(4).getBytes(StandardCharsets.US_ASCII));
        tls.shutdownOutput();
        drain(tls.getInputStream());
    }

    static void pause() {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException nobody) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Ends the stream and waits for the client to end it too. Unread data from the client would turn the end into a reset, which can
     * overtake the data that were sent before.
     */
    private static void hangUp(Socket tcp) throws IOException {
        tcp.shutdownOutput();
        drain(tcp.getInputStream());
    }

    private static void readSome(Socket tcp) throws IOException {
        tcp.getInputStream().read(new byte[RECORD_BYTES]);
    }

    private static void drain(InputStream in) {
        try {
            in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException gone) {
            // So is the client.
        }
    }

    /**
     * Sends a ServerHello of TLS 1.2, then records of a Certificate message (RFC 5246 section 7.4.2) whose length field is
     * 2^24 - 1 bytes, and another such message, and so on.
     */
    private static void endlessCertificate(OutputStream out) throws IOException {
        byte[] hello = new byte[4 + 45];
        Arrays.fill(hello, (byte) 0x5a);
        // The array has the type, the length and the version; then, after 32 random bytes, no session,
        // TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, no compression and renegotiation_info (RFC 5746).
        byte[] before = {0x02, 0, 0, 45, 0x03, 0x03};
        byte[] after = {0, (byte) 0xc0, 0x2f, 0, 0, 5, (byte) 0xff, 1, 0, 1, 0};
        System.arraycopy(before, 0, hello, 0, before.length);
        System.arraycopy(after, 0, hello, hello.length - after.length, after.length);
        record(out, hello);
        byte[] part = new byte[RECORD_BYTES];
        Arrays.fill(part, (byte) 0x30);
        byte[] begin = {0x0b, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xfc, 0, (byte) 0xff, (byte) 0xff};
        System.arraycopy(begin, 0, part, 0, begin.length);
        for (int sent = 0; sent < ENDLESS_BYTES; sent += part.length) {
            record(out, part);
            Arrays.fill(part, 0, begin.length, (byte) 0x30);
        }
    }

    private static void record(OutputStream out, byte[] message) throws IOException {
        out.write(new byte[] {0x16, 0x03, 0x03, (byte) (message.length >> 8), (byte) message.length});
        out.write(message);
    }
}
