package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
)

// The kinds of beginning of a session.
const (
	kindFull      = "full"
	kindSessionID = "session-id"
	kindTicket    = "ticket"
)

// keptSessions is the maximum number of sessions that a server keeps, and that a client does.
const keptSessions = 256

// sides are the configurations of both sides of a scenario's sessions. Threads share them.
type sides struct {
	client, server *tls.Config
}

// newSides restricts both sides to the one version, suite, group and signature scheme of the settings. Go's client offers all of
// its schemes; the server chooses among them, and is configured with one.
func newSides(settings *sessionSettings, kind string, given *material) (*sides, error) {
	chosen, err := settings.suite()
	if err != nil {
		return nil, err
	}
	if kind == kindSessionID && settings.Version != tls.VersionTLS13 {
		return nil, unsupported("Go's server keeps no sessions, and gives tickets alone")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(given.RootsPEM)) {
		return nil, errors.New("roots: none that Go can use")
	}
	own, err := settings.certificate(given.ChainPEM, given.KeyPEM)
	if err != nil {
		return nil, fmt.Errorf("chain and key: %w", err)
	}
	common := tls.Config{MinVersion: uint16(settings.Version), MaxVersion: uint16(settings.Version)}
	if err := holdGroups(&common, []group{settings.Group}); err != nil {
		return nil, err
	}
	if isSuite13(chosen) {
		holdSuites13([]uint16{chosen})
	} else {
		common.CipherSuites = []uint16{chosen}
	}
	client, server := common.Clone(), common.Clone()
	client.RootCAs, client.ServerName = roots, given.Host
	server.Certificates = []tls.Certificate{own}
	if settings.ClientAuth == "on" {
		shown, err := settings.certificate(given.ClientChainPEM, given.ClientKeyPEM)
		if err != nil {
			return nil, fmt.Errorf("client's chain and key: %w", err)
		}
		client.Certificates = []tls.Certificate{shown}
		server.ClientAuth, server.ClientCAs = tls.RequireAndVerifyClientCert, roots
	}
	switch kind {
	case kindFull:
		server.SessionTicketsDisabled = true
	case kindTicket:
		client.ClientSessionCache = tls.NewLRUClientSessionCache(keptSessions)
	case kindSessionID:
		client.ClientSessionCache = tls.NewLRUClientSessionCache(keptSessions)
		memory := &sessionMemory{states: map[string]*tls.SessionState{}}
		server.WrapSession, server.UnwrapSession = memory.keep, memory.find
	}
	return &sides{client, server}, nil
}

func (s *sessionSettings) suite() (uint16, error) {
	middle, isNew := "ECDHE_ECDSA_WITH_", s.Version == tls.VersionTLS13
	switch {
	case isNew:
		middle = ""
	case strings.HasPrefix(s.Key, "rsa"):
		middle = "ECDHE_RSA_WITH_"
	}
	aeads := map[string]string{
		"AES128-GCM_SHA256":        "AES_128_GCM_SHA256",
		"AES256-GCM_SHA384":        "AES_256_GCM_SHA384",
		"CHACHA20-POLY1305_SHA256": "CHACHA20_POLY1305_SHA256",
	}
	code, ok := suites["TLS_"+middle+aeads[s.AEAD]]
	if !ok {
		return 0, lacks("suite of " + s.AEAD)
	}
	return code, nil
}

// certificate returns a chain with its key, which signs only by the scheme of the settings.
func (s *sessionSettings) certificate(chainPEM, keyPEM string) (tls.Certificate, error) {
	schemes := map[string]tls.SignatureScheme{
		"rsa-2048":   tls.PSSWithSHA256,
		"rsa-3072":   tls.PSSWithSHA256,
		"rsa-4096":   tls.PSSWithSHA256,
		"ecdsa-p256": tls.ECDSAWithP256AndSHA256,
		"ecdsa-p384": tls.ECDSAWithP384AndSHA384,
		"ed25519":    tls.Ed25519,
	}
	maps.Copy(schemes, mlDSA.schemes)
	scheme, ok := schemes[s.Key]
	if !ok {
		return tls.Certificate{}, fmt.Errorf("unknown key type %q", s.Key)
	}
	certificate, err := tls.X509KeyPair([]byte(chainPEM), []byte(keyPEM))
	certificate.SupportedSignatureAlgorithms = []tls.SignatureScheme{scheme}
	return certificate, err
}

// sessionMemory is a server's store of sessions, whose tickets only contain a number.
type sessionMemory struct {
	lock   sync.Mutex
	next   uint64
	states map[string]*tls.SessionState
}

func (m *sessionMemory) keep(_ tls.ConnectionState, state *tls.SessionState) ([]byte, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	name := strconv.FormatUint(m.next, 10)
	m.states[name] = state
	m.next++
	if m.next >= keptSessions {
		delete(m.states, strconv.FormatUint(m.next-keptSessions, 10))
	}
	return []byte(name), nil
}

func (m *sessionMemory) find(ticket []byte, _ tls.ConnectionState) (*tls.SessionState, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.states[string(ticket)], nil
}
