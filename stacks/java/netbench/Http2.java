package netbench;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLSocket;
import netbench.Frames.Frame;

/** HTTP/2 on one connection, for one request. */
final class Http2 {
    static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private static final int STREAM = 1;
    /** The window size, large enough that a server seldom waits. */
    private static final int WINDOW = 2 << 20;

    private final Frames frames;
    private final Visit visit;
    private final Hpack hpack = new Hpack();

    Http2(SSLSocket tls, Visit visit) throws IOException {
        frames = new Frames(new BufferedInputStream(tls.getInputStream(), 16 << 10), tls.getOutputStream());
        this.visit = visit;
    }

    Visit.Page get(String method, String authority, String path, List<String[]> headers) throws IOException {
        frames.putRaw(PREFACE);
        frames.put(Frames.SETTINGS, 0, 0, Frames.setting(Frames.INITIAL_WINDOW_SIZE, WINDOW));
        frames.putWindow(0, WINDOW - Frames.DEFAULT_WINDOW);
        byte[] head = head(method, authority, path, headers);
        for (int from = 0; from == 0 || from < head.length; from += Frames.LONGEST) {
            int length = Math.min(head.length - from, Frames.LONGEST);
            boolean isLast = from + length == head.length;
            int flags = (from == 0 ? Frames.END_STREAM : 0) | (isLast ? Frames.END_HEADERS : 0);
            frames.put(from == 0 ? Frames.HEADERS : Frames.CONTINUATION, flags, STREAM, head, from, length);
        }
        frames.flush();
        return response();
    }

    private static byte[] head(String method, String authority, String path, List<String[]> headers) {
        String own = authority;
        for (String[] header : headers) {
            own = header[0].equalsIgnoreCase("host") ? header[1] : own;
        }
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        Hpack.write(head, ":method", method);
        Hpack.write(head, ":scheme", "https");
        Hpack.write(head, ":authority", own);
        Hpack.write(head, ":path", path);
        for (String[] header : headers) {
            String name = header[0].toLowerCase(Locale.ROOT);
            if (!name.equals("host") && !name.equals("connection")) {
                Hpack.write(head, name, header[1]);
            }
        }
        return head.toByteArray();
    }

    private Visit.Page response() throws IOException {
        int status = 0;
        String view = null;
        long body = 0;
        int unacknowledged = 0;
        while (true) {
            Frame frame = frames.read();
            switch (frame.type()) {
                case Frames.HEADERS -> {
                    for (String[] field : hpack.read(frame.payload())) {
                        if (field[0].equals(":status")) {
                            status = status(field[1]);
                        } else if (field[0].equals(Http1.SERVER_VIEW)) {
                            view = field[1];
                        }
                    }
                    if (status >= 200 && visit.headNs == 0) {
                        visit.head();
                    }
                }
                case Frames.DATA -> {
                    body += Frames.dataBytes(frame);
                    unacknowledged += frame.payload().length;
                    if (unacknowledged > WINDOW / 2) {
                        frames.putWindow(0, unacknowledged);
                        frames.putWindow(STREAM, unacknowledged);
                        frames.flush();
                        unacknowledged = 0;
                    }
                }
                case Frames.SETTINGS, Frames.PING -> acknowledge(frames, frame);
                case Frames.GOAWAY, Frames.RST_STREAM -> throw new EOFException("the server ends the stream");
                default -> { }
            }
            boolean isEnd = frame.has(Frames.END_STREAM) && frame.stream() == STREAM
                    && (frame.type() == Frames.DATA || frame.type() == Frames.HEADERS);
            if (isEnd && status >= 200) {
                return new Visit.Page(status, body, view);
            }
        }
    }

    /** Acknowledges settings and pings. */
    static void acknowledge(Frames frames, Frame frame) throws IOException {
        if (!frame.has(Frames.ACK)) {
            byte[] same = frame.type() == Frames.PING ? frame.payload() : new byte[0];
            frames.put(frame.type(), Frames.ACK, 0, same);
            frames.flush();
        }
    }

    private static int status(String text) throws Http1.NotHttp {
        if (!text.matches("[1-5][0-9][0-9]")) {
            throw new Http1.NotHttp("no status");
        }
        return Integer.parseInt(text);
    }
}
