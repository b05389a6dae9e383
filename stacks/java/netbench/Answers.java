package netbench;

import java.util.LinkedHashMap;
import java.util.Map;

/** Answers, and texts that a terminal can show. */
final class Answers {
    private static final int LONGEST_DETAIL = 600;

    private Answers() {}

    static Map<String, Object> of(String type) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("type", type);
        return answer;
    }

    static Map<String, Object> error(Throwable error) {
        Map<String, Object> answer = of("error");
        answer.put("message", shown(error));
        return answer;
    }

    static Map<String, Object> failed(String failureClass, String reason, String detail, String phase, Long afterNs) {
        Map<String, Object> answer = of("failed");
        answer.put("class", failureClass);
        answer.put("reason", reason);
        answer.put("detail", sanitize(detail));
        answer.put("phase", phase);
        answer.put("after_ns", afterNs);
        return answer;
    }

    /** Returns the answer for a failure of the suite; its reason is a word of FailureWord. */
    static Map<String, Object> setup(String word, Throwable error) {
        return failed("setup", word, shown(error), null, null);
    }

    /** Returns an error with its causes, in one line. */
    static String shown(Throwable error) {
        StringBuilder text = new StringBuilder();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            String said = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
            if (text.indexOf(said) < 0) {
                text.append(text.length() == 0 ? "" : ": ").append(said);
            }
        }
        return sanitize(text.toString());
    }

    /** Replaces control characters for terminals. */
    static String sanitize(String text) {
        StringBuilder clean = new StringBuilder();
        text.codePoints().limit(LONGEST_DETAIL).forEach(c -> {
            int type = Character.getType(c);
            boolean obeyed = type == Character.CONTROL || type == Character.FORMAT
                    || type == Character.LINE_SEPARATOR || type == Character.PARAGRAPH_SEPARATOR
                    || type == Character.SURROGATE;
            clean.appendCodePoint(obeyed ? 0xfffd : c);
        });
        return clean.toString();
    }
}
