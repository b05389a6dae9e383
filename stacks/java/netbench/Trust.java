package netbench;

import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.ManagerFactoryParameters;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/** Java's own trust manager with its time measured; it checks the name too. */
final class Trust extends X509ExtendedTrustManager {
    private final X509ExtendedTrustManager own;
    /** The duration of the last verification, or null. */
    Long verifyNs;
    /** The error of the last verification. */
    CertificateException refused;

    Trust(String rootsPem) throws GeneralSecurityException {
        this(Pem.store(Pem.certificates("roots", rootsPem)));
    }

    Trust(KeyStore roots) throws GeneralSecurityException {
        own = own(roots);
    }

    /** Makes Java's trust manager with these roots. */
    static X509ExtendedTrustManager own(KeyStore roots) throws GeneralSecurityException {
        TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
        factory.init(roots);
        return made(factory);
    }

    /** Makes Java's trust manager with roots and settings of PKIX. */
    static X509ExtendedTrustManager own(ManagerFactoryParameters settings) throws GeneralSecurityException {
        TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
        factory.init(settings);
        return made(factory);
    }

    private static X509ExtendedTrustManager made(TrustManagerFactory factory) throws GeneralSecurityException {
        for (TrustManager manager : factory.getTrustManagers()) {
            if (manager instanceof X509ExtendedTrustManager extended) {
                return extended;
            }
        }
        throw new GeneralSecurityException("no trust manager for X.509");
    }

    private interface Check {
        void run() throws CertificateException;
    }

    private void timed(Check check) throws CertificateException {
        long start = System.nanoTime();
        try {
            check.run();
        } catch (CertificateException error) {
            refused = error;
            throw error;
        } finally {
            verifyNs = System.nanoTime() - start;
        }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind, Socket socket) throws CertificateException {
        timed(() -> own.checkServerTrusted(chain, kind, socket));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind, SSLEngine engine) throws CertificateException {
        timed(() -> own.checkServerTrusted(chain, kind, engine));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind) throws CertificateException {
        timed(() -> own.checkServerTrusted(chain, kind));
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind, Socket socket) throws CertificateException {
        own.checkClientTrusted(chain, kind, socket);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind, SSLEngine engine) throws CertificateException {
        own.checkClientTrusted(chain, kind, engine);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind) throws CertificateException {
        own.checkClientTrusted(chain, kind);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return own.getAcceptedIssuers();
    }
}
