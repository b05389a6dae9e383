package netbench;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import javax.net.ssl.SSLSocket;

/** HTTP/1.1 on one connection, for one request (RFC 9112). */
final class Http1 {
    /** An error in the HTTP syntax. */
    static final class NotHttp extends IOException {
        private static final long serialVersionUID = 1;

        NotHttp(String what) {
            super(what);
        }
    }

    static final String SERVER_VIEW = "x-netbench-server";

    private static final int LONGEST_LINE = 64 << 10;
    private static final int MOST_LINES = 1_000;

    private final SSLSocket tls;
    private final Visit visit;
    private final InputStream in;

    Http1(SSLSocket tls, Visit visit) throws IOException {
        this.tls = tls;
        this.visit = visit;
        in = new BufferedInputStream(tls.getInputStream(), 16 << 10);
    }

    Visit.Page get(String method, String authority, String path, List<String[]> headers) throws IOException {
        StringBuilder request = new StringBuilder(method + " " + path + " HTTP/1.1\r\n");
        if (headers.stream().noneMatch(header -> header[0].equalsIgnoreCase("host"))) {
            request.append("host: ").append(authority).append("\r\n");
        }
        for (String[] header : headers) {
            request.append(header[0]).append(": ").append(header[1]).append("\r\n");
        }
        tls.getOutputStream().write(request.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
        int status = status(line(in));
        Map<String, String> fields = fields();
        while (status < 200) {
            status = status(line(in));
            fields = fields();
        }
        visit.head();
        boolean hasBody = !method.equals("HEAD") && status != 204 && status != 304;
        return new Visit.Page(status, hasBody ? body(fields) : 0, fields.get(SERVER_VIEW));
    }

    private static int status(String line) throws NotHttp {
        if (!line.matches("HTTP/1\\.[01] [1-5][0-9][0-9]( .*)?")) {
            throw new NotHttp("no status line");
        }
        return Integer.parseInt(line.substring(9, 12));
    }

    private Map<String, String> fields() throws IOException {
        Map<String, String> fields = new TreeMap<>();
        String line = line(in);
        for (int lines = 0; !line.isEmpty(); lines++) {
            int colon = line.indexOf(':');
            if (colon < 1 || lines > MOST_LINES) {
                throw new NotHttp("no field of a head");
            }
            fields.put(line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
            line = line(in);
        }
        return fields;
    }

    /** Reads one line, without its end. */
    static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("the stream ended in a head");
            }
            if (line.length() == LONGEST_LINE) {
                throw new NotHttp("a line without an end");
            }
            line.append((char) b);
        }
        int length = line.length();
        return length > 0 && line.charAt(length - 1) == '\r' ? line.substring(0, length - 1) : line.toString();
    }

    private long body(Map<String, String> fields) throws IOException {
        if (fields.getOrDefault("transfer-encoding", "").toLowerCase(Locale.ROOT).endsWith("chunked")) {
            return chunks();
        }
        String length = fields.get("content-length");
        if (length == null) {
            return in.transferTo(java.io.OutputStream.nullOutputStream());
        }
        return skip(number(length, 10));
    }

    private long chunks() throws IOException {
        long whole = 0;
        while (true) {
            long size = number(line(in).split(";")[0], 16);
            if (size == 0) {
                fields();
                return whole;
            }
            whole += skip(size);
            line(in);
        }
    }

    private static long number(String text, int radix) throws NotHttp {
        try {
            return Long.parseUnsignedLong(text.strip(), radix);
        } catch (NumberFormatException error) {
            throw new NotHttp("no length");
        }
    }

    private long skip(long length) throws IOException {
        byte[] buffer = new byte[16 << 10];
        long left = length;
        while (left > 0) {
            int count = in.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (count < 0) {
                throw new EOFException("the stream ended in a body");
            }
            left -= count;
        }
        return length;
    }
}
