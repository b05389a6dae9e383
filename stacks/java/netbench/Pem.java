package netbench;

import java.io.ByteArrayInputStream;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** Certificates and keys in PEM (RFC 7468). */
final class Pem {
    private Pem() {}

    /** Returns the decoded contents of the blocks with this label. */
    static List<byte[]> blocks(String pem, String label) throws CertificateException {
        String begin = "-----BEGIN " + label + "-----";
        String end = "-----END " + label + "-----";
        List<byte[]> found = new ArrayList<>();
        for (int at = pem.indexOf(begin); at >= 0; at = pem.indexOf(begin, at)) {
            at += begin.length();
            int last = pem.indexOf(end, at);
            if (last < 0) {
                throw new CertificateException("PEM without an end");
            }
            try {
                found.add(Base64.getMimeDecoder().decode(pem.substring(at, last)));
            } catch (IllegalArgumentException error) {
                throw new CertificateException("PEM that is not base64", error);
            }
        }
        return found;
    }

    static X509Certificate[] certificates(String what, String pem) throws CertificateException {
        List<byte[]> all = blocks(pem, "CERTIFICATE");
        if (all.isEmpty()) {
            throw new CertificateException(what + ": no certificate");
        }
        return parsed(all);
    }

    static X509Certificate[] parsed(List<byte[]> all) throws CertificateException {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        X509Certificate[] certificates = new X509Certificate[all.size()];
        for (int i = 0; i < certificates.length; i++) {
            certificates[i] = (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(all.get(i)));
        }
        return certificates;
    }

    static PrivateKey key(String pem) throws GeneralSecurityException {
        List<byte[]> blocks = blocks(pem, "PRIVATE KEY");
        if (blocks.isEmpty()) {
            throw new InvalidKeyException("key: none in PKCS #8");
        }
        PKCS8EncodedKeySpec encoded = new PKCS8EncodedKeySpec(blocks.get(0));
        for (String kind : List.of("EC", "RSA", "EdDSA")) {
            try {
                return KeyFactory.getInstance(kind).generatePrivate(encoded);
            } catch (GeneralSecurityException notOfThisKind) {
                // The next algorithm may be the right one.
            }
        }
        throw new InvalidKeyException("key: of a kind that Java does not know");
    }

    /** Makes a store of trust roots. */
    static KeyStore store(X509Certificate[] roots) throws GeneralSecurityException {
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            for (int i = 0; i < roots.length; i++) {
                store.setCertificateEntry("root-" + i, roots[i]);
            }
            return store;
        } catch (java.io.IOException error) {
            throw new GeneralSecurityException(error);
        }
    }
}
