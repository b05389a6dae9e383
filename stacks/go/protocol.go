package main

import (
	"encoding/json"
	"strings"
	"unicode"
)

const (
	protocolVersion = 1
	// The response header with the report of the lab's servers. They send its name in lowercase.
	serverViewHeader = "X-Netbench-Server"
)

type configureRequest struct {
	Stack    string          `json:"stack"`
	Client   *clientSettings `json:"client"`
	RootsPEM string          `json:"roots_pem"`
	Identity *identity       `json:"identity"`
	ECH      *ech            `json:"ech"`
}

// ech is a list of configurations for Encrypted ClientHello. Go sends no GREASE in its place.
type ech struct {
	Configs []byte `json:"configs"`
}

// echKey is a key of a server with Encrypted ClientHello.
type echKey struct {
	Config     []byte `json:"config_base64"`
	PrivateKey []byte `json:"private_key_base64"`
}

// echRejected is the answer about a server that rejected Encrypted ClientHello and proved the public name.
type echRejected struct {
	Failure      *failure `json:"failure"`
	RetryConfigs []byte   `json:"retry_configs"`
}

type clientSettings struct {
	Profile    string      `json:"profile"`
	Versions   []version   `json:"versions"`
	Suites     []suite     `json:"suites"`
	Groups     []group     `json:"groups"`
	Signatures []signature `json:"signatures"`
	ALPN       []string    `json:"alpn"`
}

// identity is a client's certificate and key, neither of which may be in any message.
type identity struct {
	ChainPEM string  `json:"chain_pem"`
	KeyPEM   string  `json:"key_pem"`
	Password *string `json:"password"`
	PKCS12   *string `json:"pkcs12_base64"`
}

type connectRequest struct {
	Host      string       `json:"host"`
	Port      uint16       `json:"port"`
	Address   string       `json:"address"`
	Resolve   string       `json:"resolve"`
	Condition string       `json:"condition"`
	Role      string       `json:"role"`
	TimeoutMS uint64       `json:"timeout_ms"`
	Request   *httpRequest `json:"request"`
}

type httpRequest struct {
	Method  string      `json:"method"`
	Path    string      `json:"path"`
	Headers [][2]string `json:"headers"`
}

type serveRequest struct {
	Stack  string          `json:"stack"`
	Sites  []serveSite     `json:"sites"`
	Shared *sharedListener `json:"shared"`
}

type sharedListener struct {
	Listen    string  `json:"listen"`
	Interface *string `json:"interface"`
}

type serveSite struct {
	Site       string    `json:"site"`
	Listen     string    `json:"listen"`
	ChainPEM   string    `json:"chain_pem"`
	KeyPEM     string    `json:"key_pem"`
	Versions   []version `json:"versions"`
	Suites     []suite   `json:"suites"`
	Groups     []group   `json:"groups"`
	ALPN       []string  `json:"alpn"`
	Tickets    uint8     `json:"tickets"`
	ECHKeys    []echKey  `json:"ech_keys"`
	OCSP       []byte    `json:"ocsp_base64"`
	BodyBytes  int64     `json:"body_bytes"`
	Fault      *string   `json:"fault"`
	Congestion *string   `json:"congestion"`
}

type errorAnswer struct {
	Message string `json:"message"`
}

type unsupportedAnswer struct {
	Reason string `json:"reason"`
}

type servingAnswer struct {
	Listening map[string]string `json:"listening"`
	Failed    map[string]string `json:"failed"`
}

type countedAnswer struct {
	Sites []siteCount `json:"sites"`
}

type siteCount struct {
	Site       string `json:"site"`
	Accepted   uint64 `json:"accepted"`
	Handshakes uint64 `json:"handshakes"`
	Resumed    uint64 `json:"resumed"`
	Responses  uint64 `json:"responses"`
}

type failure struct {
	Class   string  `json:"class"`
	Reason  string  `json:"reason"`
	Detail  string  `json:"detail"`
	Phase   *string `json:"phase"`
	AfterNS *int64  `json:"after_ns"`
}

type measured struct {
	Phases     phases       `json:"phases"`
	Client     negotiated   `json:"client"`
	Server     *serverView  `json:"server"`
	Transfer   transfer     `json:"transfer"`
	HTTPStatus int          `json:"http_status"`
	BodyBytes  int64        `json:"body_bytes"`
	Process    *processCost `json:"process,omitempty"`
}

// phases are those of Phases in netbench/tls/src/measured.rs, with net/http in place of hyper.
type phases struct {
	ConnectorNS   *int64 `json:"connector_ns"`
	DNSNS         int64  `json:"dns_ns"`
	TCPNS         int64  `json:"tcp_ns"`
	TLSNS         int64  `json:"tls_ns"`
	ClientHelloNS int64  `json:"client_hello_ns"`
	VerifyNS      *int64 `json:"verify_ns"`
	FirstByteNS   int64  `json:"first_byte_ns"`
	TotalNS       int64  `json:"total_ns"`
	CPUNS         int64  `json:"cpu_ns"`
}

type negotiated struct {
	Version    *version   `json:"version"`
	Suite      *suite     `json:"suite"`
	Group      *group     `json:"group"`
	Signature  *signature `json:"signature"`
	ALPN       *string    `json:"alpn"`
	Resumed    bool       `json:"resumed"`
	ECH        *string    `json:"ech,omitempty"`
	ChainBytes []int      `json:"chain_bytes"`
}

type serverView struct {
	Negotiated negotiated `json:"negotiated"`
	ComputeNS  uint64     `json:"compute_ns"`
}

type transfer struct {
	HandshakeBytesOut int64    `json:"handshake_bytes_out"`
	HandshakeBytesIn  int64    `json:"handshake_bytes_in"`
	BytesOut          int64    `json:"bytes_out"`
	BytesIn           int64    `json:"bytes_in"`
	RoundTrips        int      `json:"round_trips"`
	TCP               *tcpInfo `json:"tcp"`
}

type tcpInfo struct {
	RTTUS       uint32 `json:"rtt_us"`
	MinRTTUS    uint32 `json:"min_rtt_us"`
	Retransmits uint32 `json:"retransmits"`
}

type processCost struct {
	ConnectorCPUNS int64 `json:"connector_cpu_ns"`
	MinorFaults    int64 `json:"minor_faults"`
}

// decode parses a whole request.
func decode[T any](line []byte) (T, error) {
	var request T
	err := json.Unmarshal(line, &request)
	return request, err
}

// sanitize replaces control characters for terminals.
func sanitize(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return unicode.ReplacementChar
		}
		return c
	}, text)
}
