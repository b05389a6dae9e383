package netbench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;

/** The CPU time of a thread, and the kernel's counts of the process. */
final class Clock {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private Clock() {}

    /** Returns the CPU time of the calling thread, without the virtual machine's compilation and collection on other threads. */
    static long threadCpuNs() {
        return THREADS.getCurrentThreadCpuTime();
    }

    /** Returns the number of minor page faults of the process so far: the tenth field of /proc/self/stat (proc(5)). */
    static long minorFaults() {
        try {
            String stat = Files.readString(Path.of("/proc/self/stat"));
            return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[7]);
        } catch (IOException | RuntimeException unknown) {
            return 0;
        }
    }
}
