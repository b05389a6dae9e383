package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"reflect"
	"strconv"
	"time"
)

func (w *worker) configure(line []byte) (string, any, error) {
	settings, err := decode[configureRequest](line)
	if err != nil {
		return "", nil, err
	}
	if err := ofThisStack(settings.Stack); err != nil {
		return "", nil, err
	}
	if settings.Client == nil {
		return "", nil, errors.New("no client's settings")
	}
	w.forget()
	w.settings = &settings
	return "configured", nil, nil
}

func (w *worker) forget() {
	if w.kept != nil {
		w.kept.close()
		w.kept = nil
	}
}

func (w *worker) connect(line []byte) (string, any, error) {
	if w.settings == nil {
		return "", nil, errors.New("connect before configure")
	}
	request, err := decode[connectRequest](line)
	if err != nil {
		return "", nil, err
	}
	if _, _, err := net.SplitHostPort(request.Address); err != nil {
		return "", nil, err
	}
	client, made, err := w.connector(&request)
	if err != nil {
		return "", nil, err
	}
	if made.err != nil {
		kind, body := unmade(made)
		return kind, body, nil
	}
	faults := minorFaults()
	figures, err := client.measure(&request)
	var reason unsupported
	var failed *failure
	var rejected *echRejected
	switch {
	case errors.As(err, &rejected):
		return "ech-rejected", rejected, nil
	case errors.As(err, &reason):
		return "unsupported", unsupportedAnswer{string(reason)}, nil
	case errors.As(err, &failed):
		return "failed", failed, nil
	case err != nil:
		return "", nil, err
	}
	if made.fresh {
		took := made.wall.Nanoseconds()
		figures.Phases.ConnectorNS = &took
		figures.Process = &processCost{made.cpu.Nanoseconds(), made.faults + minorFaults() - faults}
	}
	if request.Role == "prime" {
		w.kept, w.keptHost, w.keptPort = client, request.Host, request.Port
	}
	return "connected", figures, nil
}

// making is the cost of making a connector.
type making struct {
	fresh     bool
	wall, cpu time.Duration
	faults    int64
	err       error
}

// connector returns the connector for the connection: a new one, or the one that the previous prime connection kept.
func (w *worker) connector(request *connectRequest) (*connector, making, error) {
	kept := w.kept
	w.kept = nil
	if request.Condition == "resumed" && request.Role == "measured" {
		if kept == nil || w.keptHost != request.Host || w.keptPort != request.Port {
			return nil, making{}, errors.New("a resumed connection needs a prime one before it")
		}
		return kept, making{}, nil
	}
	faults, cpu, start := minorFaults(), processCPU(), time.Now()
	client, err := newConnector(w.settings.Client, w.settings.RootsPEM, w.settings.Identity, w.settings.ECH)
	made := making{true, time.Since(start), processCPU() - cpu, minorFaults() - faults, err}
	if err == nil && w.server != nil && !allSuites13() {
		made.err = unsupported("Go has one list of the suites of TLS 1.3 for a process, and this one serves sites")
		holdSuites13(nil)
	}
	return client, made, nil
}

func unmade(made making) (string, any) {
	var reason unsupported
	if errors.As(made.err, &reason) {
		return "unsupported", unsupportedAnswer{string(reason)}
	}
	phase, after := "connector", made.wall.Nanoseconds()
	return "failed", failure{"setup", "connector", sanitize(made.err.Error()), &phase, &after}
}

// measure makes one connection, requests one page, and reads it to its end.
func (c *connector) measure(asked *connectRequest) (*measured, error) {
	request, err := asked.http(c.settings.Profile)
	if err != nil {
		return nil, &failure{Class: "setup", Reason: "host", Detail: sanitize(err.Error())}
	}
	limit := time.Duration(asked.TimeoutMS) * time.Millisecond
	trace := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
		TLSHandshakeDone: c.probe.handshakeDone,
		WroteRequest:     c.probe.requestWritten,
	})
	c.probe.aim(asked.Address, asked.Resolve)
	cpu, start := processCPU(), time.Now()
	ctx, cancel := context.WithTimeout(trace, limit)
	defer cancel()
	status, bodyBytes, view, err := c.fetch(request.WithContext(ctx))
	end, cpu := time.Now(), processCPU()-cpu
	c.probe.keepTCPInfo()
	if err != nil {
		m := c.probe.read()
		c.probe.abandon()
		c.close()
		failed := explained(err, &m, limit, end.Sub(start))
		var rejection *tls.ECHRejectionError
		if errors.As(err, &rejection) {
			return nil, &echRejected{failed, rejection.RetryConfigList}
		}
		return nil, failed
	}
	c.close()
	m := c.probe.read()
	if err := c.signed(&m.negotiated); err != nil {
		return nil, err
	}
	between := func(from, to time.Time) int64 { return max(to.Sub(from).Nanoseconds(), 0) }
	return &measured{
		Phases: phases{
			DNSNS:         m.dns.Nanoseconds(),
			TCPNS:         between(m.resolved, m.connected),
			TLSNS:         between(m.connected, m.handshake),
			ClientHelloNS: between(m.connected, m.clientHello),
			VerifyNS:      m.verify,
			FirstByteNS:   between(m.handshake, m.head),
			TotalNS:       between(start, end),
			CPUNS:         cpu.Nanoseconds(),
		},
		Client:     m.negotiated,
		Server:     view,
		Transfer:   m.transfer,
		HTTPStatus: status,
		BodyBytes:  bodyBytes,
	}, nil
}

func (c *connector) fetch(request *http.Request) (status int, bodyBytes int64, view *serverView, err error) {
	response, err := c.client.Do(request)
	if err != nil {
		return 0, 0, nil, err
	}
	c.probe.headReceived()
	defer response.Body.Close()
	bodyBytes, err = io.Copy(io.Discard, response.Body)
	if text := response.Header.Get(serverViewHeader); text != "" {
		var seen serverView
		if json.Unmarshal([]byte(text), &seen) == nil {
			view = &seen
		}
	}
	return response.StatusCode, bodyBytes, view, err
}

// http returns the request for net/http, with the headers that other workers send.
func (asked *connectRequest) http(profile string) (*http.Request, error) {
	wanted := asked.Request
	if wanted == nil {
		wanted = &httpRequest{Method: http.MethodGet, Path: "/"}
	}
	authority := asked.Host
	if ip := net.ParseIP(asked.Host); ip != nil && ip.To4() == nil {
		authority = "[" + asked.Host + "]"
	}
	if asked.Port != 443 {
		authority += ":" + strconv.Itoa(int(asked.Port))
	}
	address, err := url.Parse("https://" + authority + wanted.Path)
	if err != nil {
		return nil, errors.New("no URL can be made of the host and the path")
	}
	request, err := http.NewRequest(wanted.Method, address.String(), nil)
	if err != nil {
		return nil, err
	}
	for name, value := range ownHeaders(profile) {
		request.Header.Set(name, value)
	}
	replaced := map[string]bool{}
	for _, header := range wanted.Headers {
		name, value := http.CanonicalHeaderKey(header[0]), header[1]
		switch {
		case name == "Host":
			request.Host = value
		case replaced[name]:
			request.Header.Add(name, value)
		default:
			request.Header.Set(name, value)
		}
		replaced[name] = true
	}
	return request, nil
}

func ownHeaders(profile string) map[string]string {
	if profile == "servo" {
		// These are the headers that Servo sends for a document (components/net/http_loader.rs).
		return map[string]string{
			"Accept":          "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
			"Accept-Language": "en-US,en;q=0.5",
			"Accept-Encoding": "gzip, deflate, br, zstd",
			"User-Agent":      "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Servo/1.0 Firefox/140.0",
		}
	}
	return map[string]string{"Accept": "*/*", "User-Agent": "netbench"}
}

// agreedOn returns the negotiated parameters of a handshake. Go 1.26 has the scheme of the server's signature, but does not
// publish it.
func agreedOn(state *tls.ConnectionState) negotiated {
	v := version(state.Version)
	agreed := negotiated{
		Version:    &v,
		Suite:      &suite{code: state.CipherSuite},
		Resumed:    state.DidResume,
		ChainBytes: []int{},
	}
	// For a resumed session of TLS 1.2, Go reports the group of its first handshake.
	if state.CurveID != 0 && !(state.DidResume && state.Version < tls.VersionTLS13) {
		agreed.Group = &group{code: uint16(state.CurveID)}
	}
	if state.ECHAccepted {
		accepted := "accepted"
		agreed.ECH = &accepted
	}
	if state.NegotiatedProtocol != "" {
		agreed.ALPN = &state.NegotiatedProtocol
	}
	if state.DidResume {
		return agreed
	}
	scheme := reflect.ValueOf(state).Elem().FieldByName("testingOnlyPeerSignatureAlgorithm")
	if scheme.IsValid() && scheme.CanUint() && scheme.Uint() != 0 {
		agreed.Signature = &signature{code: uint16(scheme.Uint())}
	}
	for _, certificate := range state.PeerCertificates {
		agreed.ChainBytes = append(agreed.ChainBytes, len(certificate.Raw))
	}
	return agreed
}

func (r *echRejected) Error() string { return r.Failure.Error() }

func (f *failure) Error() string { return fmt.Sprintf("%s: %s: %s", f.Class, f.Reason, f.Detail) }
