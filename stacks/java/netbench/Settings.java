package netbench;

import java.security.AlgorithmConstraints;
import java.security.AlgorithmParameters;
import java.security.CryptoPrimitive;
import java.security.Key;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLParameters;

/**
 * The restrictions of a side. JSSE has settings for versions and suites.
 *
 * <p>Java 17 has no setting for groups and signature schemes except properties of the whole process, which are read once. It has
 * constraints (SSLParameters.setAlgorithmConstraints), which are called for every group and every scheme by name before it is
 * offered, so that unwanted ones are not offered. JSSE itself decides the order of the others.
 */
final class Settings {
    /** The groups that netbench knows, in JSSE's order. */
    static final List<String> GROUPS = List.of("x25519", "secp256r1", "secp384r1");

    static final List<String> SCHEMES = List.of(
            "ecdsa_secp256r1_sha256", "ecdsa_secp384r1_sha384", "ed25519",
            "rsa_pss_rsae_sha256", "rsa_pss_rsae_sha384", "rsa_pss_rsae_sha512",
            "rsa_pkcs1_sha256", "rsa_pkcs1_sha384", "rsa_pkcs1_sha512");

    /**
     * The suites that netbench may request, in the order of CipherSuite::SERVED. JSSE has TLS_DHE_RSA_WITH_AES_128_GCM_SHA256 too, but
     * offers finite-field groups for it, which are not requested.
     */
    static final List<String> SUITES = List.of(
            "TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_256_GCM_SHA384",
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
            "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256");

    /** The suites that are offered by default: CipherSuite::OFFERED. */
    static final List<String> OFFERED_SUITES = SUITES.subList(0, 9);

    private static final List<String> VERSIONS = List.of("1.2", "1.3");
    /** Versions that netbench can name, and JSSE no longer supports. */
    private static final List<String> OLD_VERSIONS = List.of("ssl3", "1.0", "1.1");

    private Settings() {}

    /** Refuses a name that is no version. */
    static List<String> versions(List<String> wanted) throws Json.Wrong {
        for (String version : wanted) {
            if (!VERSIONS.contains(version) && !OLD_VERSIONS.contains(version)) {
                throw new Json.Wrong("unknown version " + version);
            }
        }
        return wanted;
    }

    /** Sets exactly those of {@code versions} to which one of {@code suites} belongs, with exactly {@code suites}, in this order. */
    static void hold(SSLParameters to, List<String> versions, List<String> suites) throws Unsupported {
        for (String suite : suites) {
            if (!SUITES.contains(suite)) {
                throw new Unsupported("JSSE has no suite " + suite);
            }
        }
        List<String> usable = new ArrayList<>();
        for (String version : versions) {
            if (suites.stream().anyMatch(suite -> isOf13(suite) == version.equals("1.3"))) {
                usable.add(version);
            }
        }
        holdVersions(to, usable);
        to.setCipherSuites(suites.toArray(String[]::new));
    }

    static void holdVersions(SSLParameters to, List<String> versions) throws Unsupported {
        if (versions.isEmpty()) {
            throw new Unsupported("no version that its suites belong to");
        }
        List<String> protocols = new ArrayList<>();
        for (String version : versions) {
            if (!VERSIONS.contains(version)) {
                throw new Unsupported("Java leaves out versions before TLS 1.2");
            }
            protocols.add("TLSv" + version);
        }
        to.setProtocols(protocols.toArray(String[]::new));
    }

    static boolean isOf13(String suite) {
        return suite.startsWith("TLS_AES_") || suite.startsWith("TLS_CHACHA20_");
    }

    /** Refuses schemes of ML-DSA, which JSSE lacks. Other schemes that it lacks are not offered. */
    static void withoutMlDsa(List<String> schemes) throws Unsupported {
        for (String scheme : schemes) {
            if (scheme.startsWith("mldsa")) {
                throw new Unsupported("JSSE has no signature scheme " + scheme);
            }
        }
    }

    /** Refuses groups in an order in which JSSE would send a key share of another than the first. */
    static void inOrder(List<String> groups) throws Unsupported {
        String first = has(groups);
        if (!groups.isEmpty() && !first.equals(groups.get(0))) {
            throw new Unsupported("JSSE orders groups itself, and would send a key share of " + first + ", not of " + groups.get(0));
        }
    }

    /** Refuses groups that JSSE lacks, and returns the one that it prefers. */
    static String has(List<String> groups) throws Unsupported {
        for (String group : groups) {
            if (!GROUPS.contains(group)) {
                throw new Unsupported("JSSE has no group " + group);
            }
        }
        return GROUPS.stream().filter(groups::contains).findFirst().orElse("");
    }

    /** Constraints that permit only these groups and schemes; an empty list permits all. */
    static final class Only implements AlgorithmConstraints {
        private final Set<String> groups;
        private final Set<String> schemes;
        /** The curve of the last scheme in this thread: JSSE asks about it next, and it is no group of a key exchange. */
        private final ThreadLocal<String> curve = new ThreadLocal<>();

        Only(List<String> groups, List<String> schemes) {
            this.groups = Set.copyOf(groups.isEmpty() ? GROUPS : groups);
            this.schemes = Set.copyOf(schemes.isEmpty() ? SCHEMES : schemes);
        }

        @Override
        public boolean permits(Set<CryptoPrimitive> primitives, String name, AlgorithmParameters parameters) {
            if (primitives.contains(CryptoPrimitive.SIGNATURE)) {
                if (isScheme(name)) {
                    curve.set(curveOf(name));
                    return schemes.contains(name);
                }
                return true;
            }
            if (!isGroup(name)) {
                // The constraint is on the components of a group, or on suites.
                return true;
            }
            boolean isOfScheme = name.equals(curve.get());
            curve.remove();
            return isOfScheme || groups.contains(name);
        }

        private static String curveOf(String scheme) {
            return scheme.startsWith("ecdsa_") ? scheme.split("_")[1] : null;
        }

        private static boolean isGroup(String name) {
            return name.startsWith("sec") || name.startsWith("ffdhe") || name.equals("x25519") || name.equals("x448");
        }

        private static boolean isScheme(String name) {
            return name.startsWith("rsa_p") || name.startsWith("ecdsa_") || name.startsWith("dsa_") || name.equals("ed25519")
                    || name.equals("ed448");
        }

        @Override
        public boolean permits(Set<CryptoPrimitive> primitives, Key key) {
            return true;
        }

        @Override
        public boolean permits(Set<CryptoPrimitive> primitives, String name, Key key, AlgorithmParameters parameters) {
            return permits(primitives, name, parameters);
        }
    }
}
