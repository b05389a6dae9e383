package netbench;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLSocket;
import netbench.Frames.Frame;

/** The server's side of HTTP/2: one response after another, within the client's windows. */
final class ServedHttp2 {
    private final Frames frames;
    private final InputStream in;
    private final Site site;
    private final String view;
    private final ArrayDeque<Integer> asked = new ArrayDeque<>();
    private final Map<Integer, Long> windows = new HashMap<>();
    private long window = Frames.DEFAULT_WINDOW;
    private long initialWindow = Frames.DEFAULT_WINDOW;

    ServedHttp2(SSLSocket tls, Site site, String view) throws IOException {
        in = new BufferedInputStream(tls.getInputStream(), 16 << 10);
        frames = new Frames(in, tls.getOutputStream());
        this.site = site;
        this.view = view;
    }

    void serve() throws IOException {
        byte[] preface = new byte[Http2.PREFACE.length];
        new DataInputStream(in).readFully(preface);
        if (!Arrays.equals(preface, Http2.PREFACE)) {
            throw new Http1.NotHttp("no preface of HTTP/2");
        }
        frames.put(Frames.SETTINGS, 0, 0, new byte[0]);
        frames.flush();
        try {
            while (true) {
                while (asked.isEmpty()) {
                    read();
                }
                respond(asked.remove());
            }
        } catch (EOFException ended) {
            // The client has received the whole response.
        }
    }

    private void read() throws IOException {
        Frame frame = frames.read();
        switch (frame.type()) {
            // The contents of a request do not matter.
            case Frames.HEADERS -> {
                windows.put(frame.stream(), initialWindow);
                asked.add(frame.stream());
            }
            case Frames.SETTINGS -> {
                settings(frame);
                Http2.acknowledge(frames, frame);
            }
            case Frames.PING -> Http2.acknowledge(frames, frame);
            case Frames.WINDOW_UPDATE -> {
                long more = ByteBuffer.wrap(frame.payload()).getInt() & Integer.MAX_VALUE;
                if (frame.stream() == 0) {
                    window += more;
                } else {
                    windows.computeIfPresent(frame.stream(), (stream, before) -> before + more);
                }
            }
            case Frames.GOAWAY -> throw new EOFException("the client goes away");
            case Frames.RST_STREAM -> asked.remove(frame.stream());
            default -> { }
        }
    }

    private void settings(Frame frame) {
        ByteBuffer settings = ByteBuffer.wrap(frame.payload());
        while (settings.remaining() >= 6) {
            int name = settings.getShort() & 0xffff;
            long value = settings.getInt() & 0xffff_ffffL;
            if (name == Frames.INITIAL_WINDOW_SIZE) {
                long more = value - initialWindow;
                windows.replaceAll((stream, before) -> before + more);
                initialWindow = value;
            }
        }
    }

    private void respond(int stream) throws IOException {
        site.responses.incrementAndGet();
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        Hpack.write(head, ":status", "200");
        Hpack.write(head, "content-type", "text/html");
        Hpack.write(head, "content-length", Integer.toString(site.body.length));
        Hpack.write(head, Http1.SERVER_VIEW, view);
        boolean isEmpty = site.body.length == 0;
        int flags = Frames.END_HEADERS | (isEmpty ? Frames.END_STREAM : 0);
        frames.put(Frames.HEADERS, flags, stream, head.toByteArray());
        boolean isSlow = "slow-response".equals(site.fault);
        for (int from = 0; from < site.body.length; ) {
            long room = Math.min(window, windows.getOrDefault(stream, 0L));
            if (room <= 0) {
                frames.flush();
                read();
                continue;
            }
            int most = isSlow ? 1 : Frames.LONGEST;
            int length = (int) Math.min(Math.min(room, most), site.body.length - from);
            boolean isLast = from + length == site.body.length;
            frames.put(Frames.DATA, isLast ? Frames.END_STREAM : 0, stream, site.body, from, length);
            window -= length;
            windows.merge(stream, (long) -length, Long::sum);
            from += length;
            frames.flush();
            if (isSlow) {
                Faults.pause();
            }
        }
        frames.flush();
        windows.remove(stream);
    }
}
