package netbench;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;

/** One emulated site: it answers every request with the same page. */
final class Site {
    private static final long HANDSHAKE_LIMIT_NS = 60_000_000_000L;
    private static final long CONNECTION_LIMIT_NS = 120_000_000_000L;
    private static final byte[] LINE = "<p>An emulated site of netbench: text of the length that was asked for.</p>\n"
            .getBytes(StandardCharsets.US_ASCII);

    final String name;
    final AtomicLong accepted = new AtomicLong();
    private final AtomicLong handshakes = new AtomicLong();
    private final AtomicLong resumed = new AtomicLong();
    final AtomicLong responses = new AtomicLong();
    final String fault;
    final byte[] body;
    /** Null where the site's fault comes before TLS. */
    private SSLContext context;
    private SSLParameters parameters;

    Site(Json settings, Stapling stapling) throws Json.Wrong, Unsupported, GeneralSecurityException {
        name = settings.text("site");
        fault = settings.textOrNull("fault");
        body = new byte[(int) settings.number("body_bytes")];
        for (int i = 0; i < body.length; i++) {
            body[i] = LINE[i % LINE.length];
        }
        if (settings.textOrNull("congestion") != null) {
            throw new Unsupported("Java cannot choose a socket's congestion control");
        }
        if (fault != null && Faults.areBeforeTls(fault)) {
            return;
        }
        boolean forgets = settings.number("tickets") == 0;
        Identity own = new Identity(settings.text("chain_pem"), settings.text("key_pem"), forgets);
        String ocsp = settings.textOrNull("ocsp_base64");
        if (ocsp != null) {
            stapling.put(own.serial(), Base64.getDecoder().decode(ocsp));
        }
        context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {own}, new TrustManager[0], null);
        parameters = new SSLParameters();
        List<String> suites = settings.texts("suites");
        Settings.hold(parameters, Settings.versions(settings.texts("versions")),
                suites.isEmpty() ? Settings.OFFERED_SUITES : suites);
        List<String> groups = settings.texts("groups");
        Settings.has(groups);
        parameters.setAlgorithmConstraints(new Settings.Only(groups, List.of()));
        parameters.setUseCipherSuitesOrder(true);
        parameters.setApplicationProtocols(settings.texts("alpn").toArray(String[]::new));
    }

    Map<String, Object> counted() {
        Map<String, Object> counts = new LinkedHashMap<>();
        counts.put("site", name);
        counts.put("accepted", accepted.get());
        counts.put("handshakes", handshakes.get());
        counts.put("resumed", resumed.get());
        counts.put("responses", responses.get());
        return counts;
    }

    /** Makes a connection's handshake, and answers its requests. */
    void take(Socket tcp) throws IOException {
        tcp.setTcpNoDelay(true);
        if (context == null) {
            Faults.commit(fault, tcp);
            return;
        }
        Seen seen = new Seen(tcp, System.nanoTime() + HANDSHAKE_LIMIT_NS + CONNECTION_LIMIT_NS);
        SSLSocket tls = (SSLSocket) context.getSocketFactory().createSocket(seen, null, true);
        tls.setUseClientMode(false);
        tls.setSSLParameters(parameters);
        long cpu = Clock.threadCpuNs();
        tls.startHandshake();
        cpu = Clock.threadCpuNs() - cpu;
        handshakes.incrementAndGet();
        Map<String, Object> agreed = seen.sniffer().negotiated(tls.getSession(), tls.getApplicationProtocol(), null, false);
        if (Boolean.TRUE.equals(agreed.get("resumed"))) {
            resumed.incrementAndGet();
        }
        if ("bad-http".equals(fault)) {
            Faults.badHttp(tls);
            return;
        }
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("negotiated", agreed);
        view.put("compute_ns", Math.max(cpu, 1));
        if ("h2".equals(tls.getApplicationProtocol())) {
            new ServedHttp2(tls, this, Json.print(view)).serve();
        } else {
            serveHttp1(tls, Json.print(view));
        }
        tls.close();
    }

    private void serveHttp1(SSLSocket tls, String view) throws IOException {
        InputStream in = new BufferedInputStream(tls.getInputStream());
        OutputStream out = tls.getOutputStream();
        while (true) {
            in.mark(1);
            if (in.read() < 0) {
                return;
            }
            in.reset();
            boolean closes = false;
            for (String line = Http1.line(in); !line.isEmpty(); line = Http1.line(in)) {
                closes |= line.equalsIgnoreCase("connection: close");
            }
            responses.incrementAndGet();
            String head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: " + body.length + "\r\n"
                    + Http1.SERVER_VIEW + ": " + view + "\r\n\r\n";
            out.write(head.getBytes(StandardCharsets.US_ASCII));
            if ("slow-response".equals(fault)) {
                for (byte b : body) {
                    out.write(b);
                    Faults.pause();
                }
            } else {
                out.write(body);
            }
            if (closes) {
                return;
            }
        }
    }

    /** A connection of which the server's data are observed. */
    private static final class Seen extends Wire {
        private final Sniffer sniffer = new Sniffer();

        Seen(Socket tcp, long deadlineNs) throws IOException {
            super(tcp, deadlineNs);
        }

        Sniffer sniffer() {
            return sniffer;
        }

        @Override
        void sending(byte[] bytes, int from, int length) {
            sniffer.sent(bytes, from, length);
        }
    }
}
