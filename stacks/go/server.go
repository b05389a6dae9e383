package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	handshakeLimit  = 60 * time.Second
	connectionLimit = 120 * time.Second
)

// server has the sites of all serve requests, until the process ends.
type server struct {
	sites []*site
	// Connections whose handshake is done.
	ready chan net.Conn
	log   *log.Logger
}

type site struct {
	settings serveSite
	// Nil where the site's fault comes before TLS.
	config *tls.Config
	// The accepted suites, in the site's order.
	suites []uint16
	body   []byte
	counts struct{ accepted, handshakes, resumed, responses atomic.Uint64 }
}

func (w *worker) serve(line []byte) (string, any, error) {
	request, err := decode[serveRequest](line)
	if err != nil {
		return "", nil, err
	}
	if err := ofThisStack(request.Stack); err != nil {
		return "", nil, err
	}
	if w.server == nil {
		holdSuites13(nil)
		w.server = newServer()
	}
	return "serving", w.server.serve(&request), nil
}

func newServer() *server {
	s := &server{ready: make(chan net.Conn), log: log.New(os.Stderr, "", 0)}
	web := &http.Server{
		Handler:      http.HandlerFunc(respond),
		ErrorLog:     s.log,
		ReadTimeout:  connectionLimit,
		WriteTimeout: connectionLimit,
		IdleTimeout:  connectionLimit,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			if secured, ok := conn.(*tls.Conn); ok {
				return context.WithValue(ctx, servedKey{}, secured.NetConn())
			}
			return ctx
		},
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	web.Protocols = &protocols
	go func() { s.log.Print(web.Serve(s)) }()
	return s
}

// serve listens for every site that can be set up, and returns the reasons for those that cannot.
func (s *server) serve(request *serveRequest) servingAnswer {
	answer := servingAnswer{map[string]string{}, map[string]string{}}
	var longest int64
	for _, settings := range request.Sites {
		longest = max(longest, settings.BodyBytes)
	}
	line := []byte("<p>An emulated site of netbench: text of the length that was asked for.</p>\n")
	content := bytes.Repeat(line, int(longest)/len(line)+1)
	var ready []*site
	for _, settings := range request.Sites {
		made, err := newSite(settings, content)
		if err != nil {
			answer.Failed[settings.Site] = err.Error()
			continue
		}
		ready = append(ready, made)
	}
	if request.Shared != nil {
		if port, err := s.listenOnce(request.Shared, ready); err == nil {
			for _, one := range ready {
				host, _, _ := net.SplitHostPort(one.settings.Listen)
				answer.Listening[one.settings.Site] = net.JoinHostPort(host, strconv.Itoa(port))
			}
			s.sites = append(s.sites, ready...)
			return answer
		}
	}
	for _, one := range ready {
		listener, err := listen(one.settings.Listen, nil)
		if err != nil {
			answer.Failed[one.settings.Site] = err.Error()
			continue
		}
		go s.acceptAll(listener, func(netip.Addr) *site { return one })
		answer.Listening[one.settings.Site] = listener.Addr().String()
		s.sites = append(s.sites, one)
	}
	return answer
}

// listenOnce makes one listener for all sites, and returns its port.
func (s *server) listenOnce(shared *sharedListener, sites []*site) (int, error) {
	byAddress := map[netip.Addr]*site{}
	for _, one := range sites {
		address, err := netip.ParseAddrPort(one.settings.Listen)
		if err != nil {
			return 0, err
		}
		byAddress[address.Addr()] = one
	}
	if len(byAddress) < len(sites) {
		return 0, errors.New("two sites have one address")
	}
	listener, err := listen(shared.Listen, shared.Interface)
	if err != nil {
		return 0, err
	}
	go s.acceptAll(listener, func(address netip.Addr) *site { return byAddress[address] })
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func listen(address string, device *string) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		if device == nil {
			return nil
		}
		if failed := raw.Control(func(fd uintptr) { err = syscall.BindToDevice(int(fd), *device) }); failed != nil {
			return failed
		}
		return err
	}}
	config.SetMultipathTCP(false)
	network := "tcp4"
	if strings.HasPrefix(address, "[") {
		network = "tcp6"
	}
	return config.Listen(context.Background(), network, address)
}

func (s *server) acceptAll(listener net.Listener, find func(netip.Addr) *site) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			// The process has no more descriptors, or the connection was closed before it was accepted.
			time.Sleep(10 * time.Millisecond)
			continue
		}
		tcp := conn.(*net.TCPConn)
		one := find(tcp.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap())
		if one == nil {
			tcp.Close()
			continue
		}
		one.counts.accepted.Add(1)
		go func() {
			if err := s.take(tcp, one); err != nil {
				tcp.Close()
				s.log.Printf("%s: %v", one.settings.Site, err)
			}
		}()
	}
}

// take makes a connection's handshake, and passes the connection to net/http.
func (s *server) take(tcp *net.TCPConn, one *site) error {
	if err := tcp.SetDeadline(time.Now().Add(handshakeLimit)); err != nil {
		return err
	}
	if one.settings.Congestion != nil {
		if err := setCongestion(tcp, *one.settings.Congestion); err != nil {
			return err
		}
	}
	if one.config == nil {
		return commit(*one.settings.Fault, tcp)
	}
	held := &served{TCPConn: tcp, site: one}
	secured := tls.Server(held, one.config)
	runtime.LockOSThread()
	cpu := threadCPU()
	err := secured.Handshake()
	cpu = threadCPU() - cpu
	runtime.UnlockOSThread()
	if err != nil {
		return err
	}
	if err := tcp.SetDeadline(time.Now().Add(connectionLimit)); err != nil {
		return err
	}
	one.counts.handshakes.Add(1)
	state := secured.ConnectionState()
	if state.DidResume {
		one.counts.resumed.Add(1)
	}
	if one.hasFault("bad-http") {
		return badHTTP(secured)
	}
	agreed := serverAgreedOn(&state)
	if agreed.ECH == nil && held.offersECH {
		grease := "grease"
		agreed.ECH = &grease
	}
	view, err := json.Marshal(serverView{agreed, uint64(cpu.Nanoseconds())})
	if err != nil {
		return err
	}
	held.view = string(view)
	s.ready <- secured
	return nil
}

// serverAgreedOn returns the negotiated parameters according to a server. The signature that it has verified
// is the client's.
func serverAgreedOn(state *tls.ConnectionState) negotiated {
	agreed := agreedOn(state)
	agreed.Signature = nil
	return agreed
}

// Accept, Close and Addr make the server the listener from which net/http takes connections.
func (s *server) Accept() (net.Conn, error) { return <-s.ready, nil }
func (s *server) Close() error              { return nil }
func (s *server) Addr() net.Addr            { return &net.TCPAddr{} }

func (s *server) counts() []siteCount {
	counts := []siteCount{}
	if s == nil {
		return counts
	}
	for _, one := range s.sites {
		c := &one.counts
		counts = append(counts, siteCount{
			one.settings.Site, c.accepted.Load(), c.handshakes.Load(), c.resumed.Load(), c.responses.Load(),
		})
	}
	return counts
}

// served is a site's connection below TLS.
type served struct {
	*net.TCPConn
	site *site
	// The server's report on the handshake, as JSON.
	view string
	// Whether the client's hello has the extension of Encrypted ClientHello. An inner hello has it too.
	offersECH bool
	// The client's suites as it sent them, while some are hidden, and crypto/tls' slice of them.
	sent, offered []uint16
}

type servedKey struct{}

func respond(w http.ResponseWriter, r *http.Request) {
	held := r.Context().Value(servedKey{}).(*served)
	one := held.site
	one.counts.responses.Add(1)
	header := w.Header()
	header[strings.ToLower(serverViewHeader)] = []string{held.view}
	header.Set("Content-Type", "text/html")
	header.Set("Content-Length", strconv.Itoa(len(one.body)))
	if one.hasFault("slow-response") {
		slowBody(w, r, one.body)
		return
	}
	w.Write(one.body)
}

func newSite(settings serveSite, content []byte) (*site, error) {
	if err := proven(); err != nil {
		return nil, err
	}
	one := &site{settings: settings, body: content[:settings.BodyBytes]}
	// The texts are no longer needed, and those of ten thousand sites have 70 MB.
	one.settings.ChainPEM, one.settings.KeyPEM, one.settings.OCSP = "", "", nil
	if settings.Fault != nil && isBeforeTLS(*settings.Fault) {
		return one, nil
	}
	certificate, err := tls.X509KeyPair([]byte(settings.ChainPEM), []byte(settings.KeyPEM))
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	certificate.OCSPStaple = settings.OCSP
	one.config = &tls.Config{
		Certificates:           []tls.Certificate{certificate},
		NextProtos:             settings.ALPN,
		SessionTicketsDisabled: settings.Tickets == 0,
	}
	if len(settings.Suites) == 0 {
		for _, code := range offeredSuites {
			settings.Suites = append(settings.Suites, suite{code: code})
		}
	}
	old, new13, err := splitSuites(settings.Suites)
	if err != nil {
		return nil, err
	}
	versions := slices.DeleteFunc(slices.Clone(settings.Versions), func(v version) bool {
		return v == tls.VersionTLS13 && len(new13) == 0 || v != tls.VersionTLS13 && len(old) == 0
	})
	if err := holdVersions(one.config, versions); err != nil {
		return nil, err
	}
	one.config.CipherSuites = old
	one.suites = append(new13, old...)
	for _, g := range settings.Groups {
		if !slices.Contains(groupOrder, g.code) {
			return nil, lacks("group " + g.name)
		}
		one.config.CurvePreferences = append(one.config.CurvePreferences, tls.CurveID(g.code))
	}
	for _, key := range settings.ECHKeys {
		one.config.EncryptedClientHelloKeys = append(one.config.EncryptedClientHelloKeys, tls.EncryptedClientHelloKey{
			Config: key.Config, PrivateKey: key.PrivateKey, SendAsRetry: true,
		})
	}
	one.settings.ECHKeys = nil
	one.choose()
	return one, nil
}

func (one *site) hasFault(fault string) bool {
	return one.settings.Fault != nil && *one.settings.Fault == fault
}

func setCongestion(tcp *net.TCPConn, name string) error {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptString(int(fd), syscall.IPPROTO_TCP, syscall.TCP_CONGESTION, name)
	})
	return errors.Join(err, failed)
}
