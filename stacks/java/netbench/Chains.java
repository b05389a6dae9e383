package netbench;

import java.io.ByteArrayInputStream;
import java.security.GeneralSecurityException;
import java.security.cert.CRLException;
import java.security.cert.CertStore;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.CollectionCertStoreParameters;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.X509CRL;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.Map;
import javax.net.ssl.CertPathTrustManagerParameters;
import javax.net.ssl.X509ExtendedTrustManager;

/** Chains of certificates, verified as a client's trust manager does, without a connection. */
final class Chains {
    private static final int LONGEST_DETAIL = 200;
    /** The name of the key exchange of TLS 1.3 that JSSE passes to a trust manager. */
    private static final String TLS13 = "UNKNOWN";

    private Chains() {}

    static Map<String, Object> verify(Json request) throws Json.Wrong, Unsupported {
        if (request.has("trust")) {
            throw new Unsupported("its worker does not look for roots by itself (" + request.text("trust") + ")");
        }
        List<Object> said = new ArrayList<>();
        for (Json chain : request.objects("chains")) {
            List<byte[]> sent = decoded(chain, "chain_base64");
            if (sent.isEmpty()) {
                throw new Json.Wrong("chain " + said.size() + " has no certificate");
            }
            X509ExtendedTrustManager manager;
            X509Certificate[] certificates;
            try {
                manager = manager(chain);
                certificates = Pem.parsed(sent);
            } catch (CertificateException | CRLException unreadable) {
                said.add(rejected("bad-encoding", unreadable));
                continue;
            } catch (GeneralSecurityException unusable) {
                // There is no root, and PKIX does not accept an empty set.
                said.add(rejected("unknown-issuer", unusable));
                continue;
            }
            try {
                check(manager, certificates, chain.text("host"));
                said.add(Map.of("outcome", "accepted"));
            } catch (CertificateException error) {
                said.add(rejected(Explain.certificate(error), error));
            } catch (RuntimeException error) {
                said.add(rejected("other", error));
            }
        }
        Map<String, Object> answer = Answers.of("verified");
        answer.put("chains", said);
        return answer;
    }

    /** Verifies a server's chain by a trust manager. */
    static void check(X509ExtendedTrustManager manager, X509Certificate[] sent, String host) throws CertificateException {
        manager.checkServerTrusted(sent, TLS13, new Handshake(host));
    }

    /** Returns Java's trust manager as in {@link Trust}, but for the given time and with lists of revoked certificates. */
    private static X509ExtendedTrustManager manager(Json chain) throws GeneralSecurityException, Json.Wrong {
        X509Certificate[] roots = Pem.parsed(decoded(chain, "roots_base64"));
        PKIXBuilderParameters parameters = new PKIXBuilderParameters(Pem.store(roots), null);
        parameters.setDate(new Date(Math.min(chain.number("at_unix_s"), Long.MAX_VALUE / 1000) * 1000));
        List<X509CRL> crls = new ArrayList<>();
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        for (byte[] der : decoded(chain, "crls_base64")) {
            crls.add((X509CRL) factory.generateCRL(new ByteArrayInputStream(der)));
        }
        // Without any list, revocation is disabled, as by default in a trust manager.
        parameters.setRevocationEnabled(!crls.isEmpty());
        parameters.addCertStore(CertStore.getInstance("Collection", new CollectionCertStoreParameters(crls)));
        return Trust.own(new CertPathTrustManagerParameters(parameters));
    }

    private static List<byte[]> decoded(Json chain, String name) throws Json.Wrong {
        List<byte[]> all = new ArrayList<>();
        if (chain.has(name)) {
            for (String text : chain.texts(name)) {
                try {
                    all.add(Base64.getDecoder().decode(text));
                } catch (IllegalArgumentException error) {
                    throw new Json.Wrong(name + ": not base64");
                }
            }
        }
        return all;
    }

    private static Map<String, Object> rejected(String reason, Exception error) {
        String detail = Answers.shown(error);
        if (detail.codePointCount(0, detail.length()) > LONGEST_DETAIL) {
            detail = detail.substring(0, detail.offsetByCodePoints(0, LONGEST_DETAIL));
        }
        return Map.of("outcome", "rejected", "reason", reason, "detail", detail);
    }
}
