package netbench;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Frames of HTTP/2 (RFC 9113). */
final class Frames {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;

    static final int END_STREAM = 1;
    static final int ACK = 1;
    static final int END_HEADERS = 4;
    private static final int PADDED = 8;
    private static final int PRIORITY = 0x20;

    static final int INITIAL_WINDOW_SIZE = 4;
    static final int DEFAULT_WINDOW = 65_535;
    static final int LONGEST = 16 << 10;
    private static final int LONGEST_HEAD = 256 << 10;

    /** A frame; that of a head contains the whole head, without padding. */
    record Frame(int type, int flags, int stream, byte[] payload) {
        boolean has(int flag) {
            return (flags & flag) != 0;
        }
    }

    private final DataInputStream in;
    private final OutputStream out;
    private final ByteArrayOutputStream pending = new ByteArrayOutputStream();

    Frames(InputStream in, OutputStream out) {
        this.in = new DataInputStream(in);
        this.out = out;
    }

    Frame read() throws IOException {
        Frame frame = one();
        if (frame.type != HEADERS) {
            return frame;
        }
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        head.writeBytes(unpadded(frame));
        Frame last = frame;
        while (!last.has(END_HEADERS)) {
            last = one();
            if (last.type != CONTINUATION || last.stream != frame.stream || head.size() > LONGEST_HEAD) {
                throw new Http1.NotHttp("a head that does not go on, or has no end");
            }
            head.writeBytes(last.payload);
        }
        return new Frame(HEADERS, frame.flags, frame.stream, head.toByteArray());
    }

    private Frame one() throws IOException {
        int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        int stream = in.readInt() & Integer.MAX_VALUE;
        if (length > LONGEST) {
            throw new Http1.NotHttp("a frame that is too long");
        }
        byte[] payload = new byte[length];
        in.readFully(payload);
        return new Frame(type, flags, stream, payload);
    }

    private static byte[] unpadded(Frame frame) throws IOException {
        int from = frame.has(PADDED) ? 1 : 0;
        int to = frame.payload.length - (from == 1 && frame.payload.length > 0 ? frame.payload[0] & 0xff : 0);
        from += frame.has(PRIORITY) ? 5 : 0;
        if (from > to) {
            throw new Http1.NotHttp("more padding than frame");
        }
        return Arrays.copyOfRange(frame.payload, from, to);
    }

    /** Returns the data in a frame of that kind, without its padding. */
    static int dataBytes(Frame frame) {
        if (!frame.has(PADDED)) {
            return frame.payload.length;
        }
        int padding = frame.payload.length == 0 ? 0 : 1 + (frame.payload[0] & 0xff);
        return Math.max(frame.payload.length - padding, 0);
    }

    /** Adds a frame to those that are sent with the next flush. */
    void put(int type, int flags, int stream, byte[] payload, int from, int length) {
        ByteBuffer head = ByteBuffer.allocate(9);
        head.putInt(length << 8 | type).put((byte) flags).putInt(stream);
        pending.writeBytes(head.array());
        pending.write(payload, from, length);
    }

    void put(int type, int flags, int stream, byte[] payload) {
        put(type, flags, stream, payload, 0, payload.length);
    }

    void putWindow(int stream, int bytes) {
        put(WINDOW_UPDATE, 0, stream, ByteBuffer.allocate(4).putInt(bytes).array());
    }

    static byte[] setting(int name, int value) {
        return ByteBuffer.allocate(6).putShort((short) name).putInt(value).array();
    }

    void putRaw(byte[] bytes) {
        pending.writeBytes(bytes);
    }

    void flush() throws IOException {
        out.write(pending.toByteArray());
        out.flush();
        pending.reset();
    }
}
