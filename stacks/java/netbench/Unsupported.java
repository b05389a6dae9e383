package netbench;

/** The error of a feature that JSSE lacks, with the reason. */
final class Unsupported extends Exception {
    private static final long serialVersionUID = 1;

    Unsupported(String reason) {
        super(reason);
    }
}
