package netbench;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/**
 * Makes JSSE staple the sites' OCSP responses. It has no setting for a response: it asks the responder of the certificate (RFC 6960
 * appendix A) once per site. Therefore, this class is the responder of all certificates, on loopback.
 */
final class Stapling {
    private static final int LONGEST = 16 << 10;
    /** The tag of an INTEGER in DER, the type of a serial number. */
    private static final byte INTEGER = 2;

    private final Map<BigInteger, byte[]> responses = new ConcurrentHashMap<>();

    Stapling(Executor threads) throws IOException {
        ServerSocket listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        System.setProperty("jdk.tls.server.enableStatusRequestExtension", "true");
        System.setProperty("jdk.tls.stapling.responderOverride", "true");
        System.setProperty("jdk.tls.stapling.responderURI", "http://127.0.0.1:" + listener.getLocalPort() + "/");
        threads.execute(() -> answerAll(listener));
    }

    /** Stores the response for the certificate with this serial number. */
    void put(BigInteger serial, byte[] response) {
        responses.put(serial, response);
    }

    private void answerAll(ServerSocket listener) {
        while (true) {
            try (Socket asked = listener.accept()) {
                answer(asked);
            } catch (IOException | RuntimeException error) {
                System.err.println("stapling: " + Answers.shown(error));
            }
        }
    }

    private void answer(Socket asked) throws IOException {
        InputStream in = new BufferedInputStream(asked.getInputStream());
        String[] request = Http1.line(in).split(" ");
        int length = 0;
        for (String line = Http1.line(in); !line.isEmpty(); line = Http1.line(in)) {
            if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
                length = Math.min(Integer.parseInt(line.substring(line.indexOf(':') + 1).strip()), LONGEST);
            }
        }
        String path = URLDecoder.decode(request[1].substring(1).replace("+", "%2B"), StandardCharsets.US_ASCII);
        byte[] query = request[0].equals("POST") ? in.readNBytes(length) : Base64.getMimeDecoder().decode(path);
        byte[] found = new byte[0];
        for (Map.Entry<BigInteger, byte[]> known : responses.entrySet()) {
            if (contains(query, integer(known.getKey()))) {
                found = known.getValue();
            }
        }
        String head = "HTTP/1.1 " + (found.length == 0 ? "404 Not Found" : "200 OK")
                + "\r\ncontent-type: application/ocsp-response\r\nconnection: close\r\ncontent-length: " + found.length + "\r\n\r\n";
        OutputStream out = asked.getOutputStream();
        out.write(head.getBytes(StandardCharsets.US_ASCII));
        out.write(found);
    }

    private static byte[] integer(BigInteger value) {
        byte[] bytes = value.toByteArray();
        ByteArrayOutputStream der = new ByteArrayOutputStream();
        der.write(INTEGER);
        der.write(bytes.length);
        der.writeBytes(bytes);
        return der.toByteArray();
    }

    private static boolean contains(byte[] whole, byte[] part) {
        for (int at = 0; at + part.length <= whole.length; at++) {
            if (Arrays.equals(whole, at, at + part.length, part, 0, part.length)) {
                return true;
            }
        }
        return false;
    }
}
