package netbench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The description of the stack, made without a call of JSSE. */
final class Describe {
    private static final long PROTOCOL = 1;

    private Describe() {}

    static Map<String, Object> answer() {
        String release = System.getProperty("java.runtime.version");
        Map<String, Object> build = new LinkedHashMap<>();
        build.put("profile", "release");
        build.put("target", System.getProperty("os.name") + "/" + System.getProperty("os.arch"));
        build.put("java", release);
        build.put("vm", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        build.put("vendor", System.getProperty("java.vendor"));
        build.put("vm_info", System.getProperty("java.vm.info"));
        build.put("cpu_time", "of the thread alone: compiler and collector threads are not in it");
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("executable", System.getProperty("netbench.executable", "netbench-worker-java"));
        record.put("stack", Main.STACK);
        record.put("library", "JSSE of Java " + release);
        record.put("provider", null);
        record.put("connector", "SSLSocket of Java " + release);
        record.put("build", build);
        Map<String, Object> stack = new LinkedHashMap<>();
        stack.put("record", record);
        stack.put("operations", List.of("connect", "serve", "suite", "request", "client-certificate", "verify"));
        stack.put("groups", Settings.GROUPS);
        stack.put("suites", Settings.SUITES);
        stack.put("signatures", Settings.SCHEMES);
        Map<String, Object> answer = Answers.of("description");
        answer.put("protocol", PROTOCOL);
        answer.put("stacks", List.of(stack));
        return answer;
    }
}
