package netbench;

import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.security.cert.Certificate;
import java.security.cert.CertificateEncodingException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * Reads the messages that a server sends in the clear at the beginning of a connection: JSSE reports neither the group of a handshake
 * nor whether it resumed.
 */
final class Sniffer {
    private static final int CHANGE_CIPHER_SPEC = 20;
    private static final int HANDSHAKE = 22;
    private static final int SERVER_HELLO = 2;
    private static final int CERTIFICATE = 11;
    private static final int SERVER_KEY_EXCHANGE = 12;
    private static final int PRE_SHARED_KEY = 41;
    private static final int SUPPORTED_VERSIONS = 43;
    private static final int KEY_SHARE = 51;
    /** The maximum size that is kept of a message: a ServerHello is shorter, and the beginning of longer ones suffices. */
    private static final int KEPT = 1 << 10;

    private final ByteArrayOutputStream records = new ByteArrayOutputStream();
    private boolean over;
    private boolean sawCertificate;
    private boolean is13;
    private boolean sharedKey;
    private int group;
    private int scheme;
    private int type;
    private int left;
    private final ByteArrayOutputStream message = new ByteArrayOutputStream();
    private int messageLeft;
    private int header;

    /** Enters the server's data, piece by piece. */
    void sent(byte[] bytes, int from, int length) {
        for (int i = from; i < from + length && !over; i++) {
            take(bytes[i]);
        }
    }

    private void take(byte b) {
        if (left == 0) {
            records.write(b);
            if (records.size() < 5) {
                return;
            }
            byte[] head = records.toByteArray();
            records.reset();
            type = head[0];
            left = (head[3] & 0xff) << 8 | head[4] & 0xff;
            over = type != HANDSHAKE && type != CHANGE_CIPHER_SPEC;
            // The following messages are encrypted, except for a second ServerHello.
            if (type == CHANGE_CIPHER_SPEC && !is13) {
                over = true;
            }
            return;
        }
        left--;
        if (type == HANDSHAKE) {
            handshake(b);
        }
    }

    private void handshake(byte b) {
        if (header < 4) {
            message.write(b);
            header++;
            if (header == 4) {
                byte[] head = message.toByteArray();
                messageLeft = (head[1] & 0xff) << 16 | (head[2] & 0xff) << 8 | head[3] & 0xff;
            }
        } else {
            messageLeft--;
            if (message.size() < KEPT) {
                message.write(b);
            }
        }
        if (header == 4 && messageLeft == 0) {
            read(ByteBuffer.wrap(message.toByteArray()));
            message.reset();
            header = 0;
        }
    }

    private void read(ByteBuffer of) {
        try {
            int kind = of.get();
            of.position(4);
            if (kind == SERVER_HELLO) {
                hello(of);
            } else if (kind == CERTIFICATE) {
                sawCertificate = true;
            } else if (kind == SERVER_KEY_EXCHANGE) {
                keyExchange(of);
            }
        } catch (BufferUnderflowException | IllegalArgumentException broken) {
            // JSSE will report the error itself.
            over = true;
        }
    }

    private void hello(ByteBuffer of) {
        group = 0;
        of.position(of.position() + 34);
        of.position(of.position() + 1 + (of.get(of.position()) & 0xff));
        of.position(of.position() + 3);
        if (!of.hasRemaining()) {
            return;
        }
        of.getShort();
        while (of.remaining() >= 4) {
            int extension = of.getShort() & 0xffff;
            int length = of.getShort() & 0xffff;
            int next = of.position() + length;
            if (extension == SUPPORTED_VERSIONS) {
                is13 = of.getShort() == 0x0304;
            } else if (extension == KEY_SHARE) {
                group = of.getShort() & 0xffff;
            } else if (extension == PRE_SHARED_KEY) {
                sharedKey = true;
            }
            of.position(next);
        }
    }

    /** Parses a ServerKeyExchange of an elliptic curve (RFC 8422 section 5.4), including its signature's scheme. */
    private void keyExchange(ByteBuffer of) {
        final int namedCurve = 3;
        if (of.get() == namedCurve) {
            group = of.getShort() & 0xffff;
            of.position(of.position() + 1 + (of.get(of.position()) & 0xff));
        } else {
            // With finite fields, there are three numbers with their lengths before them, of which the first
            // byte was just read.
            of.position(4);
            for (int i = 0; i < 3; i++) {
                int length = of.getShort() & 0xffff;
                of.position(of.position() + length);
            }
        }
        scheme = of.getShort() & 0xffff;
    }

    boolean resumed() {
        return is13 ? sharedKey : !sawCertificate;
    }

    /** Returns the negotiated parameters, including those that {@code session} reports. */
    Map<String, Object> negotiated(SSLSession session, String alpn, String scheme13, boolean isClient) {
        boolean resumed = resumed();
        Map<String, Object> agreed = new LinkedHashMap<>();
        agreed.put("version", session.getProtocol().replace("TLSv", ""));
        agreed.put("suite", session.getCipherSuite());
        agreed.put("group", group == 0 || resumed && !is13 ? null : code(group));
        Object signature = is13 ? scheme13 : scheme == 0 ? null : code(scheme);
        agreed.put("signature", resumed || !isClient ? null : signature);
        agreed.put("alpn", alpn == null || alpn.isEmpty() ? null : alpn);
        agreed.put("resumed", resumed);
        agreed.put("chain_bytes", resumed ? List.of() : chain(session));
        return agreed;
    }

    private static Json.Number code(int code) {
        return new Json.Number(Integer.toString(code));
    }

    private static List<Object> chain(SSLSession session) {
        List<Object> bytes = new ArrayList<>();
        try {
            for (Certificate certificate : session.getPeerCertificates()) {
                bytes.add(certificate.getEncoded().length);
            }
        } catch (SSLPeerUnverifiedException | CertificateEncodingException none) {
            // The peer sent no certificate.
        }
        return bytes;
    }
}
