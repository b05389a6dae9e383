package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"
	_ "unsafe" // for linkname
)

// defaultCipherSuitesTLS13 are the suites of TLS 1.3 that Go offers, and accepts in this order. tls.Config has no setting for
// them. Go keeps these two names open to other packages (go.dev/issue/67401); the second is used where a processor has no AES
// instructions.
//
//go:linkname defaultCipherSuitesTLS13 crypto/tls.defaultCipherSuitesTLS13
var defaultCipherSuitesTLS13 []uint16

//go:linkname defaultCipherSuitesTLS13NoAES crypto/tls.defaultCipherSuitesTLS13NoAES
var defaultCipherSuitesTLS13NoAES []uint16

// ownSuites13 are Go's default suites.
var ownSuites13 = [2][]uint16{defaultCipherSuitesTLS13, defaultCipherSuitesTLS13NoAES}

// holdSuites13 sets the suites of TLS 1.3 for the whole process from now on; an empty list means Go's own.
func holdSuites13(wanted []uint16) {
	if len(wanted) == 0 {
		defaultCipherSuitesTLS13, defaultCipherSuitesTLS13NoAES = ownSuites13[0], ownSuites13[1]
		approvedSuites13 = ownApproved13
	} else {
		defaultCipherSuitesTLS13, defaultCipherSuitesTLS13NoAES = wanted, wanted
		approvedSuites13 = wanted
	}
}

// unsupported is the error of a feature that Go lacks.
type unsupported string

func (reason unsupported) Error() string { return string(reason) }

// connector has the objects that a Go program keeps for HTTPS requests: an http.Client with its http.Transport, and in that the
// tls.Config.
type connector struct {
	client    *http.Client
	transport *http.Transport
	probe     *probe
	settings  *clientSettings
}

// newConnector parses the roots and makes the configuration.
func newConnector(settings *clientSettings, rootsPEM string, own *identity, hidden *ech) (*connector, error) {
	if err := proven(); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(rootsPEM)) {
		return nil, errors.New("roots: none that Go can use")
	}
	p := &probe{}
	config := &tls.Config{
		RootCAs: roots,
		// Without the cache, Go resumes no sessions, and requests no tickets.
		ClientSessionCache: tls.NewLRUClientSessionCache(0),
		NextProtos:         settings.ALPN,
		// Go calls this function directly before it verifies the chain.
		Time: p.now,
		VerifyPeerCertificate: func([][]byte, [][]*x509.Certificate) error {
			p.verified()
			return nil
		},
	}
	if err := hold(config, settings); err != nil {
		return nil, err
	}
	if own != nil {
		certificate, err := own.read()
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	if hidden != nil {
		// Go requires that nothing older be offered with it, even in the outer hello.
		config.MinVersion = max(config.MinVersion, tls.VersionTLS13)
		config.EncryptedClientHelloConfigList = hidden.Configs
	}
	var protocols http.Protocols
	protocols.SetHTTP1(len(settings.ALPN) == 0 || slices.Contains(settings.ALPN, "http/1.1"))
	protocols.SetHTTP2(slices.Contains(settings.ALPN, "h2"))
	transport := &http.Transport{
		TLSClientConfig: config,
		Protocols:       &protocols,
		// The received bytes are counted, not the decompressed ones.
		DisableCompression: true,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return p.dial(ctx, address, settings.Profile)
		},
	}
	client := &http.Client{
		Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	return &connector{client, transport, p, settings}, nil
}

// read parses the certificate and its key with Go's standard library.
func (own *identity) read() (tls.Certificate, error) {
	if own.PKCS12 != nil {
		return tls.Certificate{}, unsupported("Go's standard library reads no PKCS#12")
	}
	key := []byte(own.KeyPEM)
	// RFC 1423 is the only supported encryption of keys.
	if block, _ := pem.Decode(key); own.Password != nil && block != nil && x509.IsEncryptedPEMBlock(block) {
		der, err := x509.DecryptPEMBlock(block, []byte(*own.Password))
		if err != nil {
			return tls.Certificate{}, fmt.Errorf("client key: %w", err)
		}
		key = pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: der})
	}
	certificate, err := tls.X509KeyPair([]byte(own.ChainPEM), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("client certificate: %w", err)
	}
	return certificate, nil
}

// hold restricts config to the parameters that settings offer, or only to their versions where the rest is to be Go's own.
func hold(config *tls.Config, settings *clientSettings) error {
	if settings.Profile == "library" {
		holdSuites13(nil)
		return holdVersions(config, settings.Versions)
	}
	if err := hasSchemes(settings.Signatures); err != nil {
		return err
	}
	old, new13, err := splitSuites(settings.Suites)
	if err != nil {
		return err
	}
	// A version without any of the suites must not be offered.
	versions := slices.DeleteFunc(slices.Clone(settings.Versions), func(v version) bool {
		return v == tls.VersionTLS13 && len(new13) == 0 || v != tls.VersionTLS13 && len(old) == 0
	})
	if err := holdVersions(config, versions); err != nil {
		return err
	}
	// Go itself decides the order of the suites of TLS 1.2. An empty list would mean all.
	config.CipherSuites = old
	holdSuites13(new13)
	return holdGroups(config, settings.Groups)
}

func splitSuites(wanted []suite) (old, new13 []uint16, err error) {
	for _, s := range wanted {
		switch {
		case !knownSuite(s.code):
			return nil, nil, lacks("suite " + s.name)
		case isSuite13(s.code):
			new13 = append(new13, s.code)
		default:
			old = append(old, s.code)
		}
	}
	return old, new13, nil
}

func holdVersions(config *tls.Config, versions []version) error {
	if len(versions) == 0 {
		return unsupported("no version that its suites belong to")
	}
	config.MinVersion = uint16(slices.Min(versions))
	config.MaxVersion = uint16(slices.Max(versions))
	if config.MinVersion < tls.VersionTLS10 {
		return unsupported("Go has no SSL 3.0")
	}
	if inFIPSMode && !slices.Contains(approvedVersions, config.MinVersion) {
		return lacks(tls.VersionName(config.MinVersion))
	}
	for between := config.MinVersion; between <= config.MaxVersion; between++ {
		if !slices.Contains(versions, version(between)) {
			return unsupported("Go's versions have no gaps between them")
		}
	}
	return nil
}

// holdGroups refuses a list that begins with another group than the one for which Go would send a key share: its order cannot be
// changed.
func holdGroups(config *tls.Config, wanted []group) error {
	for _, g := range wanted {
		if !slices.Contains(groupOrder, g.code) {
			return lacks("group " + g.name)
		}
		config.CurvePreferences = append(config.CurvePreferences, tls.CurveID(g.code))
	}
	if len(wanted) == 0 || config.MaxVersion < tls.VersionTLS13 {
		return nil
	}
	for _, code := range groupOrder {
		if first := slices.IndexFunc(wanted, func(g group) bool { return g.code == code }); first >= 0 {
			if first > 0 {
				return unsupported(fmt.Sprintf("Go orders groups itself, and would send a key share of %s, not of %s",
					wanted[first].name, wanted[0].name))
			}
			return nil
		}
	}
	return nil
}

// signed refuses a handshake whose signature is of a scheme that was not to be offered: Go has no setting for the schemes.
func (c *connector) signed(agreed *negotiated) error {
	if c.settings.Profile == "library" || agreed.Signature == nil || len(c.settings.Signatures) == 0 {
		return nil
	}
	is := func(s signature) bool { return s.code == agreed.Signature.code }
	if slices.ContainsFunc(c.settings.Signatures, is) {
		return nil
	}
	return unsupported("Go cannot be told which signature schemes to offer, and the server signed with one that was not to be")
}

// close ends the remaining connections, and waits a moment for that.
func (c *connector) close() {
	c.transport.CloseIdleConnections()
	c.probe.waitUntilClosed(200 * time.Millisecond)
}

// allSuites13 reports whether no suite of TLS 1.3 is left out. Their order does not matter to the sites of this process, which
// choose.
func allSuites13() bool {
	held, own := defaultCipherSuitesTLS13, ownSuites13[0]
	if inFIPSMode {
		held, own = approvedSuites13, ownApproved13
	}
	isHeld := func(code uint16) bool { return slices.Contains(held, code) }
	return !slices.ContainsFunc(own, func(code uint16) bool { return !isHeld(code) })
}
