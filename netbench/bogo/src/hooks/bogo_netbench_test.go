// Package tls, with what netbench adds to its BoGo shim: it connects where the runner listens, and says errors
// without the time of day.
package tls

import (
	"flag"
	"log"
	"net"
)

func init() {
	log.SetFlags(0)
}

// netbenchDial connects to the runner, which listens on the loopback address of IPv6 where it can.
func netbenchDial(port string) (net.Conn, error) {
	host := "127.0.0.1"
	if flag.Lookup("ipv6").Value.String() == "true" {
		host = "::1"
	}
	return net.Dial("tcp", net.JoinHostPort(host, port))
}
