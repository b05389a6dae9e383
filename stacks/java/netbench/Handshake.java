package netbench;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;

/** The values of a client's handshake that a trust manager reads: the host, and a check of the name. All other methods fail. */
final class Handshake extends SSLEngine {
    private final SSLSession session;

    Handshake(String host) {
        session = (SSLSession) Proxy.newProxyInstance(
                SSLSession.class.getClassLoader(), new Class<?>[] {SSLSession.class}, (proxy, method, arguments) -> {
                    return switch (method.getName()) {
                        case "getPeerHost" -> host;
                        case "getProtocol" -> "TLSv1.3";
                        default -> throw none();
                    };
                });
    }

    @Override
    public SSLSession getHandshakeSession() {
        return session;
    }

    @Override
    public SSLParameters getSSLParameters() {
        SSLParameters parameters = new SSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        return parameters;
    }

    private static UnsupportedOperationException none() {
        return new UnsupportedOperationException("there is no connection");
    }

    @Override
    public SSLEngineResult wrap(ByteBuffer[] from, int offset, int length, ByteBuffer to) {
        throw none();
    }

    @Override
    public SSLEngineResult unwrap(ByteBuffer from, ByteBuffer[] to, int offset, int length) {
        throw none();
    }

    @Override
    public Runnable getDelegatedTask() {
        throw none();
    }

    @Override
    public void closeInbound() {
        throw none();
    }

    @Override
    public boolean isInboundDone() {
        throw none();
    }

    @Override
    public void closeOutbound() {
        throw none();
    }

    @Override
    public boolean isOutboundDone() {
        throw none();
    }

    @Override
    public String[] getSupportedCipherSuites() {
        throw none();
    }

    @Override
    public String[] getEnabledCipherSuites() {
        throw none();
    }

    @Override
    public void setEnabledCipherSuites(String[] suites) {
        throw none();
    }

    @Override
    public String[] getSupportedProtocols() {
        throw none();
    }

    @Override
    public String[] getEnabledProtocols() {
        throw none();
    }

    @Override
    public void setEnabledProtocols(String[] protocols) {
        throw none();
    }

    @Override
    public SSLSession getSession() {
        throw none();
    }

    @Override
    public void beginHandshake() {
        throw none();
    }

    @Override
    public SSLEngineResult.HandshakeStatus getHandshakeStatus() {
        throw none();
    }

    @Override
    public void setUseClientMode(boolean mode) {
        throw none();
    }

    @Override
    public boolean getUseClientMode() {
        return true;
    }

    @Override
    public void setNeedClientAuth(boolean need) {
        throw none();
    }

    @Override
    public boolean getNeedClientAuth() {
        return false;
    }

    @Override
    public void setWantClientAuth(boolean want) {
        throw none();
    }

    @Override
    public boolean getWantClientAuth() {
        return false;
    }

    @Override
    public void setEnableSessionCreation(boolean flag) {
        throw none();
    }

    @Override
    public boolean getEnableSessionCreation() {
        throw none();
    }
}
