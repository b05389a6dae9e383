package main

import (
	"crypto/rsa"
	"crypto/tls"
	"slices"
	"strings"
)

// offeredSuites are the suites that a site accepts by default: CipherSuite::OFFERED in netbench/tls/src/registry/cipher_suite.rs.
var offeredSuites = []uint16{
	tls.TLS_AES_128_GCM_SHA256, tls.TLS_CHACHA20_POLY1305_SHA256, tls.TLS_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
}

// extensionECH is the extension of Encrypted ClientHello (RFC 9849 section 5).
const extensionECH = 0xfe0d

// noSuite is a code point that stands for no suite.
const noSuite = 0x0000

// choose makes the site's configuration leave the choice of the suite to the site.
//
// Go has no setting for the suites of TLS 1.3, nor for the order of any. But GetConfigForClient receives the same slice of code
// points from which Go chooses, so the suites that are not to be chosen are hidden there, and restored before the first flight is
// written: after a HelloRetryRequest, the client's second list is compared with its first.
func (one *site) choose() {
	one.config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		connection := hello.Conn.(*served)
		connection.hide(hello.CipherSuites)
		connection.offersECH = slices.Contains(hello.Extensions, extensionECH)
		if fault := one.settings.Fault; fault != nil && isOfECH(*fault) && connection.offersECH {
			return nil, refuseECH(*fault, connection.TCPConn)
		}
		return nil, nil
	}
}

func (s *served) hide(offered []uint16) {
	s.offered, s.sent = offered, slices.Clone(offered)
	chosen := func(of func(uint16) bool) uint16 {
		for _, code := range s.site.suites {
			if of(code) && slices.Contains(s.sent, code) && s.site.fits(code) {
				return code
			}
		}
		return noSuite
	}
	new13, old := chosen(isSuite13), chosen(func(code uint16) bool { return !isSuite13(code) })
	for i, code := range offered {
		if knownSuite(code) && code != new13 && code != old {
			offered[i] = noSuite
		}
	}
}

// fits reports whether a suite is usable with the site's key. A suite of TLS 1.3 is usable with any.
func (one *site) fits(code uint16) bool {
	if isSuite13(code) {
		return true
	}
	name := tls.CipherSuiteName(code)
	return suiteIsForECDSA(name) == keyIsElliptic(&one.config.Certificates[0])
}

func (s *served) Write(from []byte) (int, error) {
	if s.sent != nil {
		copy(s.offered, s.sent)
		s.sent, s.offered = nil, nil
	}
	return s.TCPConn.Write(from)
}

func suiteIsForECDSA(name string) bool {
	return strings.Contains(name, "_ECDSA_")
}

func keyIsElliptic(certificate *tls.Certificate) bool {
	_, isRSA := certificate.PrivateKey.(*rsa.PrivateKey)
	return !isRSA
}
