package netbench;

import java.security.GeneralSecurityException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;

/** A client's configuration and connections. All of a connection's work is done on the thread that requested it. */
final class Connector {
    private final String profile;
    private final List<String> versions;
    private final List<String> suites;
    private final List<String> groups;
    private final List<String> schemes;
    private final List<String> alpn;
    private final String rootsPem;
    private final String chainPem;
    private final String keyPem;

    /** The state of the last prime connection, and its site. */
    private Made kept;
    private String keptSite;

    /** An SSLContext, which keeps sessions, with the settings of its connections. */
    private record Made(SSLContext context, Trust trust, SSLParameters parameters) {}

    Connector(Json request) throws Json.Wrong {
        Json client = request.object("client");
        profile = client.text("profile");
        versions = Settings.versions(client.texts("versions"));
        suites = client.texts("suites");
        groups = client.texts("groups");
        schemes = client.texts("signatures");
        alpn = client.texts("alpn");
        rootsPem = request.text("roots_pem");
        Json identity = request.has("identity") ? request.object("identity") : null;
        chainPem = identity == null ? null : identity.text("chain_pem");
        keyPem = identity == null ? null : identity.text("key_pem");
    }

    Map<String, Object> connect(Json request) throws Json.Wrong, Unsupported {
        String host = request.text("host");
        String site = host + " " + request.number("port");
        Made last = kept != null && site.equals(keptSite) ? kept : null;
        kept = null;
        boolean isPrime = request.text("role").equals("prime");
        boolean resumes = request.text("condition").equals("resumed") && request.text("role").equals("measured");
        if (resumes && last == null) {
            throw new Json.Wrong("a resumed connection needs a prime one before it");
        }
        long faults = Clock.minorFaults();
        long cpu = Clock.threadCpuNs();
        long start = System.nanoTime();
        Made made;
        try {
            made = resumes ? last : make();
        } catch (GeneralSecurityException | RuntimeException error) {
            return Answers.failed("setup", "connector", Answers.shown(error), "connector", System.nanoTime() - start);
        }
        long took = System.nanoTime() - start;
        cpu = Clock.threadCpuNs() - cpu;
        made.parameters.setServerNames(isAddress(host) ? List.of() : List.of(new SNIHostName(host)));
        Visit visit = new Visit(made.context, made.trust, made.parameters, profile, request);
        Map<String, Object> answer = visit.run();
        if (answer.get("type").equals("connected")) {
            if (!resumes) {
                Map<String, Object> process = new LinkedHashMap<>();
                process.put("connector_cpu_ns", cpu);
                process.put("minor_faults", Clock.minorFaults() - faults);
                visit.phases.put("connector_ns", took);
                answer.put("process", process);
            }
            if (isPrime) {
                kept = made;
                keptSite = site;
            }
        }
        return answer;
    }

    private Made make() throws GeneralSecurityException, Unsupported {
        Trust trust = new Trust(rootsPem);
        KeyManager[] own = chainPem == null ? null : new KeyManager[] {new Identity(chainPem, keyPem, false)};
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own, new TrustManager[] {trust}, null);
        SSLParameters parameters = new SSLParameters();
        if (profile.equals("library")) {
            Settings.holdVersions(parameters, versions);
        } else {
            Settings.hold(parameters, versions, suites);
            Settings.inOrder(groups);
            Settings.withoutMlDsa(schemes);
            parameters.setAlgorithmConstraints(new Settings.Only(groups, schemes));
        }
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        parameters.setApplicationProtocols(alpn.toArray(String[]::new));
        return new Made(context, trust, parameters);
    }

    /** Returns whether a host is an address, which is not sent as a server name. */
    static boolean isAddress(String host) {
        return host.indexOf(':') >= 0 || host.matches("[0-9.]+");
    }
}
