package netbench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The lab's server: every site has a listener and a thread that accepts, and every connection has a thread. */
final class Server {
    private final List<Site> sites = new ArrayList<>();
    private final Stapling stapling;
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "site");
        thread.setDaemon(true);
        return thread;
    });

    Server() throws IOException {
        stapling = new Stapling(threads);
    }

    static Map<String, Object> noCounts() {
        Map<String, Object> answer = Answers.of("counted");
        answer.put("sites", List.of());
        return answer;
    }

    Map<String, Object> counts() {
        List<Object> all = new ArrayList<>();
        sites.forEach(site -> all.add(site.counted()));
        Map<String, Object> answer = Answers.of("counted");
        answer.put("sites", all);
        return answer;
    }

    /** Listens for every site that can be set up, and returns the reasons for those that cannot. */
    Map<String, Object> serve(Json request) throws Json.Wrong {
        Map<String, Object> listening = new LinkedHashMap<>();
        Map<String, Object> failed = new LinkedHashMap<>();
        for (Json settings : request.objects("sites")) {
            String name = settings.text("site");
            try {
                Site site = new Site(settings, stapling);
                listening.put(name, listen(site, settings.text("listen")));
                sites.add(site);
            } catch (GeneralSecurityException | IOException | Unsupported | RuntimeException error) {
                failed.put(name, Answers.shown(error));
            }
        }
        Map<String, Object> answer = Answers.of("serving");
        answer.put("listening", listening);
        answer.put("failed", failed);
        return answer;
    }

    private String listen(Site site, String address) throws IOException {
        int colon = address.lastIndexOf(':');
        InetAddress ip = InetAddress.getByName(address.substring(0, colon));
        ServerSocket listener = new ServerSocket();
        final int backlog = 1024;
        listener.setReuseAddress(true);
        listener.bind(new InetSocketAddress(ip, Integer.parseInt(address.substring(colon + 1))), backlog);
        threads.execute(() -> acceptAll(listener, site));
        return address.substring(0, colon + 1) + listener.getLocalPort();
    }

    private void acceptAll(ServerSocket listener, Site site) {
        while (true) {
            try {
                Socket tcp = listener.accept();
                site.accepted.incrementAndGet();
                threads.execute(() -> take(tcp, site));
            } catch (IOException error) {
                // The process has no more descriptors, or the connection was closed before it was
                // accepted.
                pause();
            }
        }
    }

    private static void take(Socket tcp, Site site) {
        try (tcp) {
            site.take(tcp);
        } catch (IOException | RuntimeException error) {
            System.err.println(site.name + ": " + Answers.shown(error));
        }
    }

    private static void pause() {
        try {
            final int ms = 10;
            Thread.sleep(ms);
        } catch (InterruptedException nobody) {
            Thread.currentThread().interrupt();
        }
    }
}
