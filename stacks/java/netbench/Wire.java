package netbench;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.LinkedHashMap;
import java.util.Map;

/** A TCP connection that counts the transferred bytes below TLS, enforces the time limit, and records its end. */
class Wire extends Socket {
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final long deadlineNs;
    final Sniffer sniffer = new Sniffer();

    long bytesIn;
    long bytesOut;
    private long handshakeIn;
    private long handshakeOut;
    private int roundTrips;
    private boolean wrote;
    long clientHelloNs;
    /** The error of the connection itself, whatever the layers above reported. */
    IOException failed;
    boolean ended;

    Wire(Socket socket, long deadlineNs) throws IOException {
        this.socket = socket;
        this.deadlineNs = deadlineNs;
        in = new FilterInputStream(socket.getInputStream()) {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] to, int from, int length) throws IOException {
                return receive(super.in, to, from, length);
            }
        };
        out = new FilterOutputStream(socket.getOutputStream()) {
            @Override
            public void write(int b) throws IOException {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int length) throws IOException {
                send(super.out, bytes, from, length);
            }
        };
    }

    /** Returns the time left before {@code deadlineNs}, as a socket's timeout; 0 would mean no timeout. */
    static int leftMs(long deadlineNs) throws SocketTimeoutException {
        long left = (deadlineNs - System.nanoTime() + 999_999) / 1_000_000;
        if (left <= 0) {
            throw new SocketTimeoutException("the time is up");
        }
        return (int) Math.min(left, Integer.MAX_VALUE);
    }

    private int receive(InputStream from, byte[] to, int at, int length) throws IOException {
        try {
            socket.setSoTimeout(leftMs(deadlineNs));
            int count = from.read(to, at, length);
            if (count < 0) {
                ended = true;
                return count;
            }
            bytesIn += count;
            if (wrote) {
                roundTrips++;
                wrote = false;
            }
            sniffer.sent(to, at, count);
            return count;
        } catch (IOException error) {
            failed = failed == null ? error : failed;
            throw error;
        }
    }

    private void send(OutputStream to, byte[] bytes, int from, int length) throws IOException {
        if (clientHelloNs == 0) {
            clientHelloNs = System.nanoTime();
        }
        sending(bytes, from, length);
        try {
            to.write(bytes, from, length);
        } catch (IOException error) {
            failed = failed == null ? error : failed;
            throw error;
        }
        bytesOut += length;
        wrote = true;
    }

    /** Observes the data that are about to be written. */
    void sending(byte[] bytes, int from, int length) {}

    void handshakeDone() {
        handshakeIn = bytesIn;
        handshakeOut = bytesOut;
    }

    Map<String, Object> transfer() {
        Map<String, Object> transfer = new LinkedHashMap<>();
        transfer.put("handshake_bytes_out", handshakeOut);
        transfer.put("handshake_bytes_in", handshakeIn);
        transfer.put("bytes_out", bytesOut);
        transfer.put("bytes_in", bytesIn);
        transfer.put("round_trips", roundTrips);
        // Java has no interface for TCP_INFO.
        transfer.put("tcp", null);
        return transfer;
    }

    @Override
    public InputStream getInputStream() {
        return in;
    }

    @Override
    public OutputStream getOutputStream() {
        return out;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    @Override
    public boolean isConnected() {
        return socket.isConnected();
    }

    @Override
    public boolean isClosed() {
        return socket.isClosed();
    }

    @Override
    public boolean isBound() {
        return socket.isBound();
    }

    @Override
    public boolean isInputShutdown() {
        return socket.isInputShutdown();
    }

    @Override
    public boolean isOutputShutdown() {
        return socket.isOutputShutdown();
    }

    @Override
    public void shutdownInput() throws IOException {
        socket.shutdownInput();
    }

    @Override
    public void shutdownOutput() throws IOException {
        socket.shutdownOutput();
    }

    @Override
    public void setSoTimeout(int timeout) {
        // Every read has its own limit.
    }

    @Override
    public int getSoTimeout() {
        return 0;
    }

    @Override
    public void setSoLinger(boolean on, int seconds) throws SocketException {
        socket.setSoLinger(on, seconds);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return socket.getSoLinger();
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        socket.setTcpNoDelay(on);
    }

    @Override
    public InetAddress getInetAddress() {
        return socket.getInetAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        return socket.getLocalAddress();
    }

    @Override
    public int getPort() {
        return socket.getPort();
    }

    @Override
    public int getLocalPort() {
        return socket.getLocalPort();
    }

    @Override
    public InetSocketAddress getRemoteSocketAddress() {
        return (InetSocketAddress) socket.getRemoteSocketAddress();
    }
}
