package netbench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** The operations of a client without a session. */
final class Alone {
    private interface Operation {
        void run() throws GeneralSecurityException, IOException;
    }

    private Alone() {}

    /** Verifies the server's chain, from DER to the verdict. */
    static Suite.Scenario verification(Json material) throws Json.Wrong, GeneralSecurityException, Suite.Failed {
        String host = material.text("host");
        List<byte[]> sent = Pem.blocks(material.text("chain_pem"), "CERTIFICATE");
        X509ExtendedTrustManager manager = Trust.own(Pem.store(Pem.certificates("roots", material.text("roots_pem"))));
        return repeated("verify", () -> Chains.check(manager, Pem.parsed(sent), host));
    }

    /** Makes a client's configuration. */
    static Suite.Scenario configuration(String form, Json material)
            throws Json.Wrong, Unsupported, GeneralSecurityException, Suite.Failed {
        Operation operation;
        if (form.equals("der")) {
            List<byte[]> all = Pem.blocks(material.text("roots_pem"), "CERTIFICATE");
            operation = () -> context(new Trust(Pem.store(Pem.parsed(all))));
            if (all.isEmpty()) {
                throw new GeneralSecurityException("roots: no certificate");
            }
        } else if (form.equals("pem")) {
            String text = material.text("roots_pem");
            operation = () -> context(new Trust(text));
        } else {
            String path = material.textOrNull("native_path");
            if (path == null) {
                throw new Unsupported("this system has no bundle of trust roots");
            }
            operation = () -> context(new Trust(Files.readString(Path.of(path))));
        }
        return repeated("configuration", operation);
    }

    private static Suite.Scenario repeated(String word, Operation operation) throws Suite.Failed {
        run(word, operation);
        return turn -> {
            while (turn.goesOn()) {
                Meter whole = new Meter(turn.isCpu);
                whole.start();
                run(word, operation);
                whole.stop();
                turn.done++;
                turn.record("whole", whole.sumNs);
            }
        };
    }

    private static void run(String word, Operation operation) throws Suite.Failed {
        try {
            operation.run();
        } catch (GeneralSecurityException | IOException | RuntimeException error) {
            throw new Suite.Failed(word, error);
        }
    }

    private static void context(Trust trust) throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {trust}, null);
    }
}
