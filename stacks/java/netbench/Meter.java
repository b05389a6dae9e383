package netbench;

/** Adds up the times of one side's steps. */
final class Meter {
    static final boolean WALL = false;

    private final boolean isCpu;
    private long since;
    long sumNs;

    Meter(boolean isCpu) {
        this.isCpu = isCpu;
    }

    void start() {
        since = now();
    }

    void stop() {
        sumNs += now() - since;
    }

    private long now() {
        return isCpu ? Clock.threadCpuNs() : System.nanoTime();
    }
}
