package netbench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;

/** The CPU time of a thread, and what the kernel counts of the process. */
final class Clock {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private Clock() {}

    /** The CPU time of the calling thread: what the virtual machine compiles and collects on other threads is not in it. */
    static long threadCpuNs() {
        return THREADS.getCurrentThreadCpuTime();
    }

    /** Pages that the process had to be given so far: the tenth field of /proc/self/stat (proc(5)). */
    static long minorFaults() {
        try {
            String stat = Files.readString(Path.of("/proc/self/stat"));
            return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[7]);
        } catch (IOException | RuntimeException unknown) {
            return 0;
        }
    }
}
