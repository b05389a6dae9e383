package netbench;

import java.math.BigInteger;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.X509ExtendedKeyManager;

/** The chain that a side sends, with its key. */
final class Identity extends X509ExtendedKeyManager {
    private static final String ALIAS = "own";

    private final X509Certificate[] chain;
    private final PrivateKey key;
    private final boolean forgets;

    /**
     * @param forgets whether a server forgets its sessions: JSSE has no setting for the number of tickets, but sends none for
     *     a session that is invalid by then
     */
    Identity(String chainPem, String keyPem, boolean forgets) throws GeneralSecurityException {
        chain = Pem.certificates("chain", chainPem);
        key = Pem.key(keyPem);
        this.forgets = forgets;
    }

    /** Returns the serial number of the leaf. */
    BigInteger serial() {
        return chain[0].getSerialNumber();
    }

    private String alias(String... kinds) {
        for (String kind : kinds) {
            if (kind.equals(key.getAlgorithm())) {
                return ALIAS;
            }
        }
        return null;
    }

    private String server(String kind, SSLSession session) {
        if (forgets && session != null) {
            session.invalidate();
        }
        return canSign(session) ? alias(kind) : null;
    }

    /** Returns whether the client has a scheme for the key. Without this check, JSSE would sign with a scheme that was not offered. */
    private boolean canSign(SSLSession session) {
        if (!(session instanceof ExtendedSSLSession handshake)) {
            return true;
        }
        String ofKey = switch (key.getAlgorithm()) {
            case "EC" -> "ECDSA";
            case "EdDSA" -> "Ed";
            default -> key.getAlgorithm();
        };
        for (String algorithm : handshake.getPeerSupportedSignatureAlgorithms()) {
            if (algorithm.contains(ofKey)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String chooseEngineServerAlias(String kind, Principal[] issuers, SSLEngine engine) {
        return server(kind, engine.getHandshakeSession());
    }

    @Override
    public String chooseServerAlias(String kind, Principal[] issuers, Socket socket) {
        return server(kind, socket instanceof SSLSocket secured ? secured.getHandshakeSession() : null);
    }

    @Override
    public String chooseEngineClientAlias(String[] kinds, Principal[] issuers, SSLEngine engine) {
        return alias(kinds);
    }

    @Override
    public String chooseClientAlias(String[] kinds, Principal[] issuers, Socket socket) {
        return alias(kinds);
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
        return chain.clone();
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
        return key;
    }

    @Override
    public String[] getClientAliases(String kind, Principal[] issuers) {
        return new String[] {ALIAS};
    }

    @Override
    public String[] getServerAliases(String kind, Principal[] issuers) {
        return new String[] {ALIAS};
    }
}
