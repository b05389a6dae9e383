package netbench;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Heads of HTTP/2 (RFC 7541): written without compression, read with it. */
final class Hpack {
    /** The static table (appendix A). */
    private static final String[][] STATIC = table(
            ":authority", "", ":method", "GET", ":method", "POST", ":path", "/", ":path", "/index.html", ":scheme", "http",
            ":scheme", "https", ":status", "200", ":status", "204", ":status", "206", ":status", "304", ":status", "400",
            ":status", "404", ":status", "500", "accept-charset", "", "accept-encoding", "gzip, deflate", "accept-language", "",
            "accept-ranges", "", "accept", "", "access-control-allow-origin", "", "age", "", "allow", "", "authorization", "",
            "cache-control", "", "content-disposition", "", "content-encoding", "", "content-language", "", "content-length", "",
            "content-location", "", "content-range", "", "content-type", "", "cookie", "", "date", "", "etag", "", "expect", "",
            "expires", "", "from", "", "host", "", "if-match", "", "if-modified-since", "", "if-none-match", "", "if-range", "",
            "if-unmodified-since", "", "last-modified", "", "link", "", "location", "", "max-forwards", "",
            "proxy-authenticate", "", "proxy-authorization", "", "range", "", "referer", "", "refresh", "", "retry-after", "",
            "server", "", "set-cookie", "", "strict-transport-security", "", "transfer-encoding", "", "user-agent", "", "vary", "",
            "via", "", "www-authenticate", "");

    /** The lengths of the Huffman codes of all bytes (appendix B), as letters from 'a' for 5: codes of one length are consecutive. */
    private static final String LENGTHS =
            "isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhf"
            + "ibccccccccccccccccccccccdcdioijbkabababbbaccbbbabcbaabccccckgjix"
            + "prpprrrsrssssststtrstssssqrsrsstrqprrssqsrrtqrssqqrqsrssprrrsrrs"
            + "vvporsruvvvwwvtuoqvwwvwtqqvvxwwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwv";

    private static final int SHORTEST = 5;
    private static final int LONGEST = 30;
    private static final int TABLE_BYTES = 4096;

    private final List<String[]> dynamic = new ArrayList<>();
    private int dynamicBytes;
    private int limitBytes = TABLE_BYTES;
    private byte[] head;
    private int at;

    private static String[][] table(String... pairs) {
        String[][] table = new String[pairs.length / 2][];
        for (int i = 0; i < table.length; i++) {
            table[i] = new String[] {pairs[2 * i], pairs[2 * i + 1]};
        }
        return table;
    }

    /** Writes a field as a literal without indexing. */
    static void write(ByteArrayOutputStream to, String name, String value) {
        to.write(0);
        for (String text : List.of(name, value)) {
            byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
            int small = Math.min(bytes.length, 127);
            to.write(small);
            if (small == 127) {
                int rest = bytes.length - 127;
                for (; rest >= 128; rest >>= 7) {
                    to.write(rest & 127 | 128);
                }
                to.write(rest);
            }
            to.writeBytes(bytes);
        }
    }

    /** Returns the fields of a head, in their order. */
    List<String[]> read(byte[] bytes) throws Http1.NotHttp {
        head = bytes;
        at = 0;
        List<String[]> fields = new ArrayList<>();
        while (at < head.length) {
            int first = head[at] & 0xff;
            if (first >= 0x80) {
                fields.add(entry(number(7)));
            } else if (first >= 0x40) {
                String[] field = field(number(6));
                remember(field);
                fields.add(field);
            } else if (first >= 0x20) {
                limitBytes = Math.min(number(5), TABLE_BYTES);
                shrink();
            } else {
                fields.add(field(number(4)));
            }
        }
        return fields;
    }

    private String[] field(int name) throws Http1.NotHttp {
        String known = name == 0 ? text() : entry(name)[0];
        return new String[] {known, text()};
    }

    private String[] entry(int index) throws Http1.NotHttp {
        if (index >= 1 && index <= STATIC.length) {
            return STATIC[index - 1];
        }
        int newest = index - STATIC.length - 1;
        if (newest < 0 || newest >= dynamic.size()) {
            throw new Http1.NotHttp("a field that is in no table");
        }
        return dynamic.get(dynamic.size() - 1 - newest);
    }

    private static int bytes(String[] field) {
        return field[0].length() + field[1].length() + 32;
    }

    private void remember(String[] field) {
        dynamic.add(field);
        dynamicBytes += bytes(field);
        shrink();
    }

    private void shrink() {
        while (dynamicBytes > limitBytes) {
            dynamicBytes -= bytes(dynamic.remove(0));
        }
    }

    private int number(int bits) throws Http1.NotHttp {
        int most = (1 << bits) - 1;
        int value = next() & most;
        for (int shift = 0; value >= most; shift += 7) {
            int b = next();
            value += (b & 127) << shift;
            if (b < 128) {
                return value;
            }
            if (shift > 14) {
                throw new Http1.NotHttp("a number without an end");
            }
        }
        return value;
    }

    private int next() throws Http1.NotHttp {
        if (at == head.length) {
            throw new Http1.NotHttp("a head that ends too early");
        }
        return head[at++] & 0xff;
    }

    private String text() throws Http1.NotHttp {
        boolean packed = at < head.length && (head[at] & 0x80) != 0;
        int length = number(7);
        if (length > head.length - at) {
            throw new Http1.NotHttp("a text that ends too early");
        }
        int from = at;
        at += length;
        return packed ? unpack(from, at) : new String(head, from, length, StandardCharsets.ISO_8859_1);
    }

    private String unpack(int from, int to) throws Http1.NotHttp {
        StringBuilder text = new StringBuilder();
        int code = 0;
        int length = 0;
        for (int i = 8 * from; i < 8 * to; i++) {
            code = code << 1 | head[i / 8] >> 7 - i % 8 & 1;
            length++;
            int symbol = Huffman.symbol(length, code);
            if (symbol >= 0) {
                text.append((char) symbol);
                code = 0;
                length = 0;
            } else if (length > LONGEST) {
                throw new Http1.NotHttp("no code of Huffman");
            }
        }
        return text.toString();
    }

    /** The codes, derived from their lengths. */
    private static final class Huffman {
        /** The first code of each length, and the bytes that have that length. */
        private static final int[] FIRST = new int[LONGEST + 1];
        private static final List<List<Integer>> OF_LENGTH =
                new ArrayList<>(Collections.nCopies(LONGEST + 1, List.of()));

        static {
            int code = 0;
            for (int length = SHORTEST; length <= LONGEST; length++) {
                List<Integer> symbols = new ArrayList<>();
                for (int symbol = 0; symbol < LENGTHS.length(); symbol++) {
                    if (LENGTHS.charAt(symbol) - 'a' + SHORTEST == length) {
                        symbols.add(symbol);
                    }
                }
                FIRST[length] = code;
                OF_LENGTH.set(length, symbols);
                code = code + symbols.size() << 1;
            }
        }

        /** Returns the byte of a code, or -1. */
        static int symbol(int length, int code) {
            if (length < SHORTEST || length > LONGEST) {
                return -1;
            }
            int at = code - FIRST[length];
            List<Integer> symbols = OF_LENGTH.get(length);
            return at >= 0 && at < symbols.size() ? symbols.get(at) : -1;
        }
    }
}
