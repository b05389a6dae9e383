// A client that offers all that Go's library has: reference ADDRESS HOST [ROOTS]. Without roots it verifies nothing.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"os"
)

func main() {
	config := &tls.Config{
		ServerName:    os.Args[2],
		MinVersion:    tls.VersionTLS10,
		Renegotiation: tls.RenegotiateFreelyAsClient,
		CurvePreferences: []tls.CurveID{
			tls.X25519MLKEM768, tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521,
		},
	}
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		config.CipherSuites = append(config.CipherSuites, suite.ID)
	}
	if len(os.Args) > 3 {
		pem, err := os.ReadFile(os.Args[3])
		fail(err)
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(pem)
	} else {
		config.InsecureSkipVerify = true
	}
	connection, err := tls.Dial("tcp", os.Args[1], config)
	fail(err)
	fmt.Fprintf(connection, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", os.Args[2])
	response, _ := io.ReadAll(connection)
	os.Stdout.Write(response)
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
