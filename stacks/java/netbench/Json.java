package netbench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A parsed JSON object (RFC 8259) with its accessors. The standard library has no JSON parser. */
final class Json {
    /** The error of a request that could not be parsed or performed. */
    static final class Wrong extends Exception {
        private static final long serialVersionUID = 1;

        Wrong(String what) {
            super(what);
        }
    }

    /** Returns a number's text: an id has up to 64 bits without a sign. */
    record Number(String text) {}

    private static final int DEEPEST = 64;

    private final Map<?, ?> fields;

    private Json(Map<?, ?> fields) {
        this.fields = fields;
    }

    static Json parse(String text) throws Wrong {
        if (tree(text) instanceof Map<?, ?> map) {
            return new Json(map);
        }
        throw new Wrong("not a request: not an object");
    }

    /** Returns any JSON value, for printing it again. */
    static Object tree(String text) throws Wrong {
        Parser parser = new Parser(text);
        Object value = parser.value(0);
        parser.end();
        return value;
    }

    boolean has(String name) {
        return fields.get(name) != null;
    }

    /** Returns whether the work of threads is an object, which means handshakes of one kind, and not a word. */
    boolean handshakes() {
        return fields.get("work") instanceof Map;
    }

    String text(String name) throws Wrong {
        return as(name, String.class);
    }

    /** Returns a text, or null where the field is null or absent. */
    String textOrNull(String name) throws Wrong {
        return has(name) ? text(name) : null;
    }

    Json object(String name) throws Wrong {
        return new Json(as(name, Map.class));
    }

    String unsigned(String name) throws Wrong {
        String text = as(name, Number.class).text;
        try {
            Long.parseUnsignedLong(text);
        } catch (NumberFormatException error) {
            throw new Wrong(name + " is not a whole number: " + text);
        }
        return text;
    }

    long number(String name) throws Wrong {
        try {
            return Long.parseLong(as(name, Number.class).text);
        } catch (NumberFormatException error) {
            throw new Wrong(name + " is not a number that fits");
        }
    }

    List<String> texts(String name) throws Wrong {
        List<String> texts = new ArrayList<>();
        for (Object item : as(name, List.class)) {
            if (!(item instanceof String text)) {
                throw new Wrong(name + " has what is not a text");
            }
            texts.add(text);
        }
        return texts;
    }

    List<Json> objects(String name) throws Wrong {
        List<Json> objects = new ArrayList<>();
        for (Object item : as(name, List.class)) {
            if (!(item instanceof Map<?, ?> map)) {
                throw new Wrong(name + " has what is not an object");
            }
            objects.add(new Json(map));
        }
        return objects;
    }

    /** Returns a list of pairs of texts, which may be missing. */
    List<String[]> pairs(String name) throws Wrong {
        List<String[]> pairs = new ArrayList<>();
        if (!has(name)) {
            return pairs;
        }
        for (Object item : as(name, List.class)) {
            if (!(item instanceof List<?> pair && pair.size() == 2
                    && pair.get(0) instanceof String first && pair.get(1) instanceof String second)) {
                throw new Wrong(name + " has what is not a pair of texts");
            }
            pairs.add(new String[] {first, second});
        }
        return pairs;
    }

    private <T> T as(String name, Class<T> type) throws Wrong {
        Object value = fields.get(name);
        if (!type.isInstance(value)) {
            throw new Wrong((value == null ? "no " : "another kind of ") + name);
        }
        return type.cast(value);
    }

    static String print(Object value) {
        StringBuilder to = new StringBuilder();
        print(value, to);
        return to.toString();
    }

    private static void print(Object value, StringBuilder to) {
        if (value instanceof String text) {
            quote(text, to);
        } else if (value instanceof Number number) {
            to.append(number.text);
        } else if (value instanceof Map<?, ?> map) {
            String before = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                to.append(before);
                quote((String) entry.getKey(), to);
                print(entry.getValue(), to.append(':'));
                before = ",";
            }
            to.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            String before = "[";
            for (Object item : list) {
                print(item, to.append(before));
                before = ",";
            }
            to.append(list.isEmpty() ? "[]" : "]");
        } else {
            // The value is a number, a boolean or null.
            to.append(value);
        }
    }

    private static void quote(String text, StringBuilder to) {
        to.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                to.append('\\').append(c);
            } else if (c < ' ') {
                to.append(String.format("\\u%04x", (int) c));
            } else {
                to.append(c);
            }
        }
        to.append('"');
    }

    private static final class Parser {
        private final String text;
        private int at;

        Parser(String text) {
            this.text = text;
        }

        Object value(int depth) throws Wrong {
            if (depth > DEEPEST) {
                throw wrong("too deep");
            }
            return switch (next()) {
                case '{' -> object(depth);
                case '[' -> list(depth);
                case '"' -> string();
                case 't' -> word("true", true);
                case 'f' -> word("false", false);
                case 'n' -> word("null", null);
                default -> number();
            };
        }

        void end() throws Wrong {
            space();
            if (at < text.length()) {
                throw wrong("more than one value");
            }
        }

        private Map<String, Object> object(int depth) throws Wrong {
            Map<String, Object> fields = new LinkedHashMap<>();
            at++;
            while (next() != '}') {
                if (!fields.isEmpty()) {
                    skip(',');
                }
                if (next() != '"') {
                    throw wrong("no name of a field");
                }
                String name = string();
                skip(':');
                fields.put(name, value(depth + 1));
            }
            at++;
            return fields;
        }

        private List<Object> list(int depth) throws Wrong {
            List<Object> items = new ArrayList<>();
            at++;
            while (next() != ']') {
                if (!items.isEmpty()) {
                    skip(',');
                }
                items.add(value(depth + 1));
            }
            at++;
            return items;
        }

        private String string() throws Wrong {
            StringBuilder read = new StringBuilder();
            for (at++; at < text.length(); at++) {
                char c = text.charAt(at);
                if (c == '"') {
                    at++;
                    return read.toString();
                }
                read.append(c == '\\' ? escaped() : c);
            }
            throw wrong("a text without an end");
        }

        private char escaped() throws Wrong {
            at++;
            char c = at < text.length() ? text.charAt(at) : 0;
            switch (c) {
                case '"', '\\', '/':
                    return c;
                case 'b':
                    return '\b';
                case 'f':
                    return '\f';
                case 'n':
                    return '\n';
                case 'r':
                    return '\r';
                case 't':
                    return '\t';
                case 'u':
                    try {
                        char code = (char) Integer.parseInt(text.substring(at + 1, at + 5), 16);
                        at += 4;
                        return code;
                    } catch (IndexOutOfBoundsException | NumberFormatException error) {
                        throw wrong("not four digits");
                    }
                default:
                    throw wrong("an escape that there is not");
            }
        }

        private Object word(String word, Object value) throws Wrong {
            if (!text.startsWith(word, at)) {
                throw wrong("not JSON");
            }
            at += word.length();
            return value;
        }

        private Number number() throws Wrong {
            int start = at;
            while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
            if (at == start) {
                throw wrong("not JSON");
            }
            return new Number(text.substring(start, at));
        }

        private char next() throws Wrong {
            space();
            if (at == text.length()) {
                throw wrong("it ends too early");
            }
            return text.charAt(at);
        }

        private void space() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
        }

        private void skip(char due) throws Wrong {
            if (next() != due) {
                throw wrong("no " + due);
            }
            at++;
        }

        private Wrong wrong(String what) {
            return new Wrong("not a request: " + what + " at character " + at);
        }
    }
}
