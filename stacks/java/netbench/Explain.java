package netbench;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertPathValidatorException.BasicReason;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.PKIXReason;
import java.util.Locale;
import java.util.Map;

/** The meanings of errors, in the terms of FailureReason in netbench/tls/src/failure.rs. */
final class Explain {
    private static final String ALERT = "Received fatal alert: ";
    private static final int LONGEST_NAME = 60;

    private Explain() {}

    static Map<String, Object> failed(Exception error, Trust trust, Wire wire, String phase, long limitMs, long afterNs) {
        String[] said = reason(error, trust, wire, phase);
        String detail = said[0].equals("timeout") && said[1].startsWith("in ") && !said[1].equals("in the kernel")
                ? "no end within " + limitMs + " ms"
                : Answers.shown(error);
        return Answers.failed(said[0], said[1], detail, phase, afterNs);
    }

    private static String[] reason(Exception error, Trust trust, Wire wire, String phase) {
        if (trust.refused != null) {
            return of("certificate", certificate(trust.refused));
        }
        IOException below = wire == null ? null : wire.failed;
        if (error instanceof SocketTimeoutException || below instanceof SocketTimeoutException) {
            return of("timeout", "in " + phase);
        }
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            String text = String.valueOf(cause.getMessage());
            int at = text.indexOf(ALERT);
            if (at >= 0) {
                return of("alert", text.substring(at + ALERT.length()).split("[^a-z_]")[0]);
            }
        }
        if (below instanceof SocketException) {
            return of("closed", String.valueOf(below.getMessage()).contains("reset") ? "reset" : "closed");
        }
        return switch (phase) {
            case "dns" -> of("resolve", error instanceof UnknownHostException ? "not found" : "failed");
            case "tcp" -> connect(error);
            case "tls" -> wire != null && wire.ended ? of("closed", "end of stream") : of("protocol", name(error));
            default -> http(error, wire);
        };
    }

    private static String[] connect(Exception error) {
        if (error instanceof NoRouteToHostException) {
            return of("connect", "unreachable");
        }
        String text = String.valueOf(error.getMessage());
        if (error instanceof ConnectException && text.contains("refused")) {
            return of("connect", "refused");
        }
        return of("connect", text.contains("unreachable") ? "unreachable" : "failed");
    }

    private static String[] http(Exception error, Wire wire) {
        if (error instanceof Http1.NotHttp) {
            return of("http", "not HTTP");
        }
        boolean ended = error instanceof EOFException || wire != null && wire.ended;
        return of("http", ended ? "incomplete" : "failed");
    }

    private static String[] of(String failureClass, String reason) {
        return new String[] {failureClass, reason};
    }

    /** Returns the fault of a certificate, as a word of CertificateFault. */
    static String certificate(CertificateException error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertificateExpiredException) {
                return "expired";
            } else if (cause instanceof CertificateNotYetValidException) {
                return "not-yet-valid";
            } else if (cause instanceof CertPathValidatorException refused) {
                return path(refused.getReason());
            } else if (cause instanceof CertPathBuilderException && cause.getCause() == null) {
                return "unknown-issuer";
            }
        }
        // The checks of purposes and names have no separate exception.
        String text = String.valueOf(error.getMessage());
        if (text.startsWith("Extended key usage does not permit") || text.startsWith("KeyUsage does not allow")) {
            return "bad-purpose";
        }
        if (text.startsWith("Certificate contains unsupported critical extensions")) {
            return "unknown-critical-extension";
        }
        boolean isName = text.startsWith("No name matching") || text.startsWith("No subject alternative")
                || text.contains("No DNS name") || text.contains("IP address");
        return isName ? "wrong-name" : "other";
    }

    private static String path(CertPathValidatorException.Reason reason) {
        if (reason instanceof BasicReason basic) {
            return switch (basic) {
                case EXPIRED -> "expired";
                case NOT_YET_VALID -> "not-yet-valid";
                case REVOKED -> "revoked";
                case INVALID_SIGNATURE -> "bad-signature";
                case ALGORITHM_CONSTRAINED -> "weak-or-unknown-signature";
                default -> "other";
            };
        }
        if (reason instanceof PKIXReason pkix) {
            return switch (pkix) {
                case NO_TRUST_ANCHOR, NAME_CHAINING -> "unknown-issuer";
                case NOT_CA_CERT, PATH_TOO_LONG -> "bad-ca";
                case INVALID_KEY_USAGE -> "bad-purpose";
                case UNRECOGNIZED_CRIT_EXT -> "unknown-critical-extension";
                default -> "other";
            };
        }
        return "other";
    }

    /** Returns a name made from an error's message, as JSSE has no other. The name ends before the variable part, such as a number. */
    private static String name(Exception error) {
        StringBuilder name = new StringBuilder();
        String text = String.valueOf(error.getMessage()).toLowerCase(Locale.ROOT).split("[:(?]")[0];
        for (String word : text.split("[^a-z0-9]+")) {
            if (word.matches(".*[0-9].*") || name.length() + word.length() > LONGEST_NAME) {
                break;
            }
            name.append(name.length() == 0 || word.isEmpty() ? "" : "-").append(word);
        }
        return name.length() == 0 ? "unexplained" : name.toString();
    }
}
