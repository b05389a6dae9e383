package netbench;

import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;

/** Both sides' configurations of the sessions of a scenario. */
final class Sides {
    static final String FULL = "full";
    private static final String SESSION_ID = "session-id";
    private static final String TICKET = "ticket";
    /** Whether a server's tickets contain the session, or name one that it keeps; JSSE reads the property when it makes a context. */
    private static final String HOLDING_TICKETS = "jdk.tls.server.enableSessionTicketExtension";
    private static final int PORT = 443;
    private static final int KEPT_SESSIONS = 256;

    private static final Map<String, String> SCHEMES = Map.of(
            "rsa-2048", "rsa_pss_rsae_sha256", "rsa-3072", "rsa_pss_rsae_sha256", "rsa-4096", "rsa_pss_rsae_sha256",
            "ecdsa-p256", "ecdsa_secp256r1_sha256", "ecdsa-p384", "ecdsa_secp384r1_sha384", "ed25519", "ed25519");
    private static final Map<String, String> CURVES = Map.of("ecdsa-p256", "secp256r1", "ecdsa-p384", "secp384r1");
    private static final Map<String, String> AEADS = Map.of(
            "AES128-GCM_SHA256", "AES_128_GCM_SHA256", "AES256-GCM_SHA384", "AES_256_GCM_SHA384",
            "CHACHA20-POLY1305_SHA256", "CHACHA20_POLY1305_SHA256");

    private final SSLContext client;
    private final SSLContext server;
    private final SSLParameters clientParameters = new SSLParameters();
    private final SSLParameters serverParameters = new SSLParameters();
    private final String host;
    private final boolean resumes;

    Sides(Json settings, String kind, Json material) throws Json.Wrong, Unsupported, GeneralSecurityException {
        if (!List.of(FULL, SESSION_ID, TICKET).contains(kind)) {
            throw new Json.Wrong("unknown kind of handshake " + kind);
        }
        resumes = !kind.equals(FULL);
        host = material.text("host");
        hold(settings);
        Trust trust = new Trust(material.text("roots_pem"));
        boolean authenticates = settings.text("client_auth").equals("on");
        client = SSLContext.getInstance("TLS");
        KeyManager[] own = authenticates
                ? new KeyManager[] {new Identity(material.text("client_chain_pem"), material.text("client_key_pem"), false)}
                : null;
        client.init(own, new TrustManager[] {trust}, null);
        Identity identity = new Identity(material.text("chain_pem"), material.text("key_pem"), !resumes);
        System.setProperty(HOLDING_TICKETS, Boolean.toString(kind.equals(TICKET)));
        server = SSLContext.getInstance("TLS");
        server.init(new KeyManager[] {identity}, new TrustManager[] {trust}, null);
        server.getServerSessionContext().setSessionCacheSize(KEPT_SESSIONS);
        serverParameters.setNeedClientAuth(authenticates);
        clientParameters.setEndpointIdentificationAlgorithm("HTTPS");
        if (!Connector.isAddress(host) && !host.isEmpty()) {
            clientParameters.setServerNames(List.of(new SNIHostName(host)));
        }
    }

    private void hold(Json settings) throws Json.Wrong, Unsupported {
        String version = settings.text("version");
        String key = settings.text("key");
        String group = settings.text("group");
        String scheme = SCHEMES.get(key);
        String aead = AEADS.get(settings.text("aead"));
        if (scheme == null || aead == null) {
            throw new Unsupported("JSSE has no key " + key + " or no " + settings.text("aead"));
        }
        String middle = version.equals("1.3") ? "" : key.startsWith("rsa-") ? "ECDHE_RSA_WITH_" : "ECDHE_ECDSA_WITH_";
        List<String> suites = List.of("TLS_" + middle + aead);
        Settings.has(List.of(group));
        // Before TLS 1.3, the curve of a certificate must be among the groups too, and is never used for key
        // exchange.
        String curve = version.equals("1.3") ? group : CURVES.getOrDefault(key, group);
        // JSSE restricts the signatures of certificates to the schemes of the handshake. It signs with the
        // first.
        List<String> schemes = scheme.startsWith("rsa_") ? List.of(scheme, "rsa_pkcs1_sha256") : List.of(scheme);
        for (SSLParameters side : List.of(clientParameters, serverParameters)) {
            Settings.hold(side, Settings.versions(List.of(version)), suites);
            List<String> groups = side == clientParameters ? List.of(group, curve) : List.of(group);
            side.setAlgorithmConstraints(new Settings.Only(groups, schemes));
        }
    }

    /** Makes a client's side, which keeps one session for each {@code slot}. */
    SSLEngine newClient(int slot) {
        SSLEngine engine = client.createSSLEngine(host, PORT + slot);
        engine.setUseClientMode(true);
        engine.setSSLParameters(clientParameters);
        return engine;
    }

    SSLEngine newServer() {
        SSLEngine engine = server.createSSLEngine();
        engine.setUseClientMode(false);
        engine.setSSLParameters(serverParameters);
        return engine;
    }

    boolean resumes() {
        return resumes;
    }

    /** Makes the first handshake, and returns its negotiated parameters; where later ones resume, those of one of these. */
    Map<String, Object> agreed() throws SSLException {
        Pair pair = new Pair(this, 0);
        pair.handshake(Meter.WALL);
        pair.end();
        if (resumes) {
            pair = new Pair(this, 0);
            pair.handshake(Meter.WALL);
            pair.end();
        }
        Map<String, Object> answer = Answers.of("prepared");
        answer.put("client", pair.agreed(true));
        answer.put("server", pair.agreed(false));
        return answer;
    }
}
