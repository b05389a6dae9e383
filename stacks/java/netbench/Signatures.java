package netbench;

import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.InvalidParameterException;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.PublicKey;
import java.security.Security;
import java.security.Signature;
import java.security.SignatureException;
import java.security.SignatureSpi;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.PSSParameterSpec;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The scheme of the server's signature in a handshake of TLS 1.3. JSSE does not report it, and it is encrypted on the wire. Therefore, a
 * provider that precedes Java's own receives the verification, records the scheme, and delegates to Java's own.
 */
final class Signatures extends Provider {
    private static final long serialVersionUID = 1;

    private static final Map<String, String> ECDSA = Map.of(
            "SHA256withECDSA", "ecdsa_secp256r1_sha256",
            "SHA384withECDSA", "ecdsa_secp384r1_sha384",
            "Ed25519", "ed25519");

    private static volatile String last;

    static {
        Security.insertProviderAt(new Signatures(), 1);
    }

    private Signatures() {
        super("netbench", "1", "writes down which signatures are verified");
        ECDSA.keySet().forEach(algorithm -> putService(new Verifying(this, algorithm, "SunEC")));
        putService(new Verifying(this, "RSASSA-PSS", "SunRsaSign"));
    }

    static void forget() {
        last = null;
    }

    /** Returns the scheme that was verified last: that of the handshake follows those of the chain. */
    static String last() {
        return last;
    }

    private static final class Verifying extends Service {
        private final String behind;

        Verifying(Provider provider, String algorithm, String behind) {
            super(provider, "Signature", algorithm, Noted.class.getName(), List.of(), Map.of());
            this.behind = behind;
        }

        @Override
        public Object newInstance(Object parameter) throws NoSuchAlgorithmException {
            try {
                return new Noted(getAlgorithm(), behind);
            } catch (GeneralSecurityException missing) {
                throw new NoSuchAlgorithmException(missing);
            }
        }

        @Override
        public boolean supportsParameter(Object parameter) {
            return parameter instanceof PublicKey;
        }
    }

    private static final class Noted extends SignatureSpi {
        private final String algorithm;
        private final Signature behind;
        private String scheme;

        Noted(String algorithm, String provider) throws GeneralSecurityException {
            this.algorithm = algorithm;
            behind = Signature.getInstance(algorithm, provider);
            scheme = ECDSA.get(algorithm);
        }

        @Override
        protected void engineInitVerify(PublicKey key) throws InvalidKeyException {
            behind.initVerify(key);
        }

        @Override
        protected void engineInitSign(PrivateKey key) throws InvalidKeyException {
            throw new InvalidKeyException("this provider verifies only");
        }

        @Override
        protected void engineUpdate(byte b) throws SignatureException {
            behind.update(b);
        }

        @Override
        protected void engineUpdate(byte[] bytes, int from, int length) throws SignatureException {
            behind.update(bytes, from, length);
        }

        @Override
        protected byte[] engineSign() throws SignatureException {
            throw new SignatureException("this provider verifies only");
        }

        @Override
        protected boolean engineVerify(byte[] signature) throws SignatureException {
            last = scheme;
            return behind.verify(signature);
        }

        @Override
        protected void engineSetParameter(AlgorithmParameterSpec parameters) throws InvalidAlgorithmParameterException {
            behind.setParameter(parameters);
            if (parameters instanceof PSSParameterSpec pss) {
                scheme = "rsa_pss_rsae_" + pss.getDigestAlgorithm().replace("-", "").toLowerCase(Locale.ROOT);
            }
        }

        @Override
        protected AlgorithmParameters engineGetParameters() {
            return behind.getParameters();
        }

        @Override
        @Deprecated
        protected void engineSetParameter(String name, Object value) {
            throw new InvalidParameterException("no parameter " + name + " of " + algorithm);
        }

        @Override
        @Deprecated
        protected Object engineGetParameter(String name) {
            throw new InvalidParameterException("no parameter " + name + " of " + algorithm);
        }
    }
}
