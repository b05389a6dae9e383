package netbench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** One measured connection: it requests one page, and reads it to its end. */
final class Visit {
    /** The response to a request: the status, the length of the body, and the server's report. */
    record Page(int status, long bodyBytes, String serverView) {}

    private final SSLContext context;
    private final Trust trust;
    private final SSLParameters parameters;
    private final String host;
    private final int port;
    private final String address;
    private final boolean asksSystem;
    private final long limitMs;
    private final boolean isServo;
    private final String method;
    private final String path;
    private final List<String[]> headers;

    final Map<String, Object> phases = new LinkedHashMap<>();
    String phase = "dns";
    long headNs;

    Visit(SSLContext context, Trust trust, SSLParameters parameters, String profile, Json request)
            throws Json.Wrong {
        this.context = context;
        this.trust = trust;
        this.parameters = parameters;
        host = request.text("host");
        port = (int) request.number("port");
        address = request.text("address");
        asksSystem = request.text("resolve").equals("system");
        limitMs = request.number("timeout_ms");
        isServo = profile.equals("servo");
        Json wanted = request.has("request") ? request.object("request") : null;
        method = wanted == null || !wanted.has("method") ? "GET" : wanted.text("method");
        path = wanted == null || !wanted.has("path") ? "/" : wanted.text("path");
        headers = headers(wanted == null ? List.of() : wanted.pairs("headers"));
    }

    /** Returns the client's own headers, replaced or complemented by those of the request. */
    private List<String[]> headers(List<String[]> asked) {
        List<String[]> all = new ArrayList<>();
        if (isServo) {
            // These are the headers that Servo sends for a document
            // (components/net/http_loader.rs).
            all.add(new String[] {"accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"});
            all.add(new String[] {"accept-language", "en-US,en;q=0.5"});
            all.add(new String[] {"accept-encoding", "gzip, deflate, br, zstd"});
            all.add(new String[] {"user-agent",
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Servo/1.0 Firefox/140.0"});
        } else {
            all.add(new String[] {"accept", "*/*"});
            all.add(new String[] {"user-agent", "netbench"});
        }
        all.removeIf(own -> asked.stream().anyMatch(header -> header[0].equalsIgnoreCase(own[0])));
        all.addAll(asked);
        return all;
    }

    Map<String, Object> run() throws Json.Wrong {
        String authority = (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + (port == 443 ? "" : ":" + port);
        if (!path.startsWith("/") || !path.matches("[!-~]+")) {
            return Answers.failed("setup", "host", "no URI can be made of the path", null, null);
        }
        InetSocketAddress target = target();
        long cpu = Clock.threadCpuNs();
        long start = System.nanoTime();
        long deadline = start + limitMs * 1_000_000;
        Wire wire = null;
        try (Socket tcp = new Socket()) {
            if (asksSystem && !Connector.isAddress(host)) {
                InetAddress.getByName(host);
            }
            long resolved = System.nanoTime();
            phase = "tcp";
            tcp.setTcpNoDelay(!isServo);
            tcp.connect(target, Wire.leftMs(deadline));
            long connected = System.nanoTime();
            phase = "tls";
            wire = new Wire(tcp, deadline);
            trust.verifyNs = null;
            trust.refused = null;
            Signatures.forget();
            SSLSocket tls = (SSLSocket) context.getSocketFactory().createSocket(wire, host, port, true);
            tls.setSSLParameters(parameters);
            tls.startHandshake();
            long done = System.nanoTime();
            wire.handshakeDone();
            phase = "first_byte";
            Map<String, Object> agreed = wire.sniffer.negotiated(
                    tls.getSession(), tls.getApplicationProtocol(), Signatures.last(), true);
            Page page = "h2".equals(tls.getApplicationProtocol())
                    ? new Http2(tls, this).get(method, authority, path, headers)
                    : new Http1(tls, this).get(method, authority, path, headers);
            long end = System.nanoTime();
            cpu = Clock.threadCpuNs() - cpu;
            phases.put("connector_ns", null);
            phases.put("dns_ns", resolved - start);
            phases.put("tcp_ns", connected - resolved);
            phases.put("tls_ns", done - connected);
            phases.put("client_hello_ns", wire.clientHelloNs - connected);
            phases.put("verify_ns", trust.verifyNs);
            phases.put("first_byte_ns", headNs - done);
            phases.put("total_ns", end - start);
            phases.put("cpu_ns", cpu);
            close(tls);
            return connected(agreed, wire, page);
        } catch (IOException | RuntimeException error) {
            return Explain.failed(error, trust, wire, phase, limitMs, System.nanoTime() - start);
        }
    }

    private InetSocketAddress target() throws Json.Wrong {
        int colon = address.lastIndexOf(':');
        try {
            String ip = address.substring(0, colon);
            // The name is always an address, so no name server is asked.
            return new InetSocketAddress(InetAddress.getByName(ip), Integer.parseInt(address.substring(colon + 1)));
        } catch (IOException | RuntimeException error) {
            throw new Json.Wrong("no address: " + address);
        }
    }

    private static void close(SSLSocket tls) {
        try {
            tls.close();
        } catch (IOException gone) {
            // The whole stream was read.
        }
    }

    private Map<String, Object> connected(Map<String, Object> agreed, Wire wire, Page page) throws Json.Wrong {
        Map<String, Object> answer = Answers.of("connected");
        answer.put("phases", phases);
        answer.put("client", agreed);
        answer.put("server", page.serverView == null ? null : Json.tree(page.serverView));
        answer.put("transfer", wire.transfer());
        answer.put("http_status", page.status);
        answer.put("body_bytes", page.bodyBytes);
        return answer;
    }

    /** Marks the head of the response. */
    void head() {
        headNs = System.nanoTime();
        phase = "total";
    }
}
