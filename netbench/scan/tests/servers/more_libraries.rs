//! Servers with many settings, each beside the brute force.

use std::process::Command;

use netbench_testing::Tool;

use crate::{
    libraries::{is_found, serve},
    programs::s_server,
    start_tls::listening,
    support::{Files, HOST, Key},
};

const KEYS: [Key; 2] = [Key::Rsa, Key::EcdsaP256];

pub(crate) fn openssl_is_enumerated() {
    let cases: [&[&str]; 11] = [
        &[],
        &["-cipher", "ALL:@SECLEVEL=0"],
        &["-cipher", "ALL:@SECLEVEL=0", "-serverpref"],
        &["-cipher", "ALL:COMPLEMENTOFALL:@SECLEVEL=0", "-no_tls1_3"],
        &["-tls1_3"],
        &["-no_tls1_3"],
        &["-groups", "P-384:P-521"],
        &["-groups", "ffdhe2048:X25519:P-256"],
        &["-cipher", "ECDHE+AESGCM:@SECLEVEL=0", "-serverpref"],
        &["-sigalgs", "RSA+SHA256:RSA-PSS+SHA512:ECDSA+SHA256"],
        &[
            "-ciphersuites",
            "TLS_AES_128_CCM_SHA256:TLS_AES_128_CCM_8_SHA256",
        ],
    ];
    for key in KEYS {
        let files = Files::new(key);
        for arguments in cases {
            let server = s_server(&files, arguments);
            is_found(&server, &format!("OpenSSL, {key:?}, {arguments:?}"));
        }
    }
}

pub(crate) fn node_is_enumerated() {
    let cases = [
        "",
        "minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0'",
        "minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0', honorCipherOrder: true",
        "maxVersion: 'TLSv1.2', ecdhCurve: 'P-521:P-384'",
        "minVersion: 'TLSv1.3', sigalgs: 'RSA-PSS+SHA256:ECDSA+SHA256'",
    ];
    for key in KEYS {
        let files = Files::new(key);
        for options in cases {
            let server = serve(Tool::Node, |address| {
                let program = format!(
                    "const fs = require('fs'); const server = require('tls').createServer({{ \
                     cert: fs.readFileSync('{chain}'), key: fs.readFileSync('{key}'), {options} }}, \
                     socket => socket.on('error', () => {{}})); server.on('tlsClientError', () => {{}}); \
                     server.listen({port}, '127.0.0.1');",
                    chain = files.path("whole.pem"),
                    key = files.path("key.pem"),
                    port = address.port(),
                );
                ["-e", &program].map(str::to_owned).to_vec()
            });
            is_found(&server, &format!("Node, {key:?}, {options}"));
        }
    }
}

pub(crate) fn stunnel_is_enumerated() {
    for key in KEYS {
        let files = Files::new(key);
        for lines in ["", "sslVersionMin = TLSv1\nciphers = ALL:@SECLEVEL=0"] {
            let server = serve(Tool::Stunnel, |address| {
                let path = files.write(
                    &format!("stunnel-{}.conf", address.port()),
                    &format!(
                        "foreground = yes\npid =\nsyslog = no\n[site]\naccept = {address}\nconnect = 127.0.0.1:9\n\
                         cert = {}\nkey = {}\n{lines}\n",
                        files.path("whole.pem"),
                        files.path("key.pem"),
                    ),
                );
                vec![path]
            });
            is_found(&server, &format!("stunnel, {key:?}, {lines}"));
        }
    }
}

const JAVA: &str = r#"
import java.io.*; import java.net.*; import java.security.*; import javax.net.ssl.*;
public class Server {
    public static void main(String[] arguments) throws Exception {
        for (int i = arguments.length - 1; i > 2; i--) {
            Security.insertProviderAt((Provider) Class.forName(arguments[i]).getDeclaredConstructor().newInstance(), 1);
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = new FileInputStream(arguments[0])) { store.load(in, "changeit".toCharArray()); }
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        keys.init(store, "changeit".toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        SSLServerSocket listener = (SSLServerSocket) context.getServerSocketFactory()
            .createServerSocket(Integer.parseInt(arguments[1]), 100, InetAddress.getByName("127.0.0.1"));
        if (arguments[2].equals("all")) {
            listener.setEnabledCipherSuites(listener.getSupportedCipherSuites());
            listener.setEnabledProtocols(new String[] { "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3" });
        }
        while (true) {
            SSLSocket socket = (SSLSocket) listener.accept();
            Thread serve = new Thread(() -> {
                try (socket) { socket.setSoTimeout(10000); socket.startHandshake(); } catch (IOException e) { }
            });
            serve.setDaemon(true);
            serve.start();
        }
    }
}
"#;

pub(crate) fn java_is_enumerated() {
    jsse(&[], &[], &["default", "all"], "Java");
}

/// The jars of Bouncy Castle, and its providers in the order of preference.
const BOUNCY_CASTLE: [&str; 3] = ["bctls", "bcprov", "bcutil"];
const ITS_PROVIDERS: [&str; 2] = [
    "org.bouncycastle.jsse.provider.BouncyCastleJsseProvider",
    "org.bouncycastle.jce.provider.BouncyCastleProvider",
];

pub(crate) fn bouncy_castle_is_enumerated() {
    let jars = BOUNCY_CASTLE.map(|name| format!("/usr/share/java/{name}.jar"));
    jsse(
        &["-cp".to_owned(), jars.join(":")],
        &ITS_PROVIDERS,
        // With every suite it signs by MD5 for clients that also offer others, which the brute force does not.
        &["default"],
        "Bouncy Castle",
    );
}

/// Scans servers of Java's interface, with these options of the command, these providers, and default or all suites.
fn jsse(options: &[String], providers: &[&str], settings: &[&str], name: &str) {
    for key in KEYS {
        let files = Files::new(key);
        let store = files.path("store.p12");
        let made = Command::new("openssl")
            .args([
                "pkcs12",
                "-export",
                "-name",
                HOST,
                "-passout",
                "pass:changeit",
            ])
            .args([
                "-in",
                &files.path("whole.pem"),
                "-inkey",
                &files.path("key.pem"),
            ])
            .args(["-out", &store])
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let source = files.write("Server.java", JAVA);
        for suites in settings {
            let server = listening(|address| {
                let mut command = Command::new("java");
                let security = files.write(
                    "java.security",
                    "jdk.tls.disabledAlgorithms=\njdk.certpath.disabledAlgorithms=\njdk.tls.legacyAlgorithms=\n",
                );
                if *suites == "all" {
                    command.arg(format!("-Djava.security.properties={security}"));
                }
                command.args(options);
                command
                    .args([&source, &store, &address.port().to_string()])
                    .arg(suites);
                command.args(providers);
                command
            });
            is_found(&server, &format!("{name}, {key:?}, {suites}"));
        }
    }
}
