package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"syscall"
	"testing"
	"time"
)

// alert imitates the type of crypto/tls, which cannot be named.
type alert uint8

func (a alert) Error() string { return "tls: bad record MAC" }

func TestExplain(t *testing.T) {
	refused := func(err error) error {
		return &url.Error{Op: "Get", URL: "https://a.test/", Err: &tls.CertificateVerificationError{Err: err}}
	}
	of := func(reason x509.InvalidReason, from time.Duration) error {
		return refused(x509.CertificateInvalidError{
			Cert:   &x509.Certificate{NotBefore: time.Now().Add(from)},
			Reason: reason,
		})
	}
	system := func(number syscall.Errno) error { return &net.OpError{Op: "read", Err: number} }
	cases := []struct {
		err           error
		phase         string
		class, reason string
	}{
		{of(x509.Expired, -time.Hour), "tls", "certificate", "expired"},
		{of(x509.Expired, time.Hour), "tls", "certificate", "not-yet-valid"},
		{of(x509.NotAuthorizedToSign, 0), "tls", "certificate", "bad-ca"},
		{of(x509.IncompatibleUsage, 0), "tls", "certificate", "bad-purpose"},
		{of(x509.TooManyConstraints, 0), "tls", "certificate", "other"},
		{refused(x509.HostnameError{Certificate: &x509.Certificate{}, Host: "b.test"}), "tls", "certificate", "wrong-name"},
		{refused(x509.UnknownAuthorityError{}), "tls", "certificate", "unknown-issuer"},
		{refused(x509.UnhandledCriticalExtension{}), "tls", "certificate", "unknown-critical-extension"},
		{refused(x509.InsecureAlgorithmError(x509.SHA1WithRSA)), "tls", "certificate", "weak-or-unknown-signature"},
		{refused(errors.New("tls: no FIPS compatible certificate chains found")), "tls", "certificate", "weak-or-unknown-signature"},
		{errors.New("tls: failed to parse certificate from server: x509: malformed"), "tls", "certificate", "bad-encoding"},
		{&net.OpError{Op: "remote error", Err: alert(40)}, "tls", "alert", "0x28"},
		{&net.OpError{Op: "local error", Err: alert(40)}, "tls", "protocol", "bad-record-mac"},
		{context.DeadlineExceeded, "tls", "timeout", ""},
		{&net.DNSError{IsNotFound: true}, "dns", "resolve", "not found"},
		{&net.DNSError{IsTimeout: true}, "dns", "resolve", "failed"},
		{system(syscall.ECONNREFUSED), "tcp", "connect", "refused"},
		{system(syscall.ETIMEDOUT), "tcp", "connect", "timed out"},
		{system(syscall.ETIMEDOUT), "total", "timeout", "in the kernel"},
		{system(syscall.ECONNRESET), "tls", "closed", "reset"},
		{io.EOF, "tls", "closed", "end of stream"},
		{io.ErrUnexpectedEOF, "total", "http", "incomplete"},
		{errors.New("malformed HTTP response \"x\""), "first_byte", "http", "not HTTP"},
		{errors.New("http2: frame too large"), "first_byte", "http", "failed"},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, "tls", "protocol",
			"first-record-does-not-look-like-a-tls-handshake"},
		{errors.New("tls: handshake message of length 16777215 bytes exceeds maximum"), "tls", "protocol",
			"handshake-message-of-length"},
		{errors.New("tls: server selected an invalid version: 1"), "tls", "protocol", "server-selected-an-invalid-version"},
		{errors.New("…"), "tls", "protocol", "unexplained"},
	}
	for _, c := range cases {
		class, reason := explain(c.err, c.phase)
		if class != c.class || reason != c.reason {
			t.Errorf("%v in %s: %s, %s; %s, %s was due", c.err, c.phase, class, reason, c.class, c.reason)
		}
	}
}

func TestPoints(t *testing.T) {
	for text, due := range map[string]point{
		`4865`:                     {0x1301, "0x1301"},
		`"0x1301"`:                 {0x1301, "0x1301"},
		`"TLS_AES_128_GCM_SHA256"`: {0x1301, "TLS_AES_128_GCM_SHA256"},
		`"TLS_OF_ANOTHER_LIBRARY"`: {0, "TLS_OF_ANOTHER_LIBRARY"},
	} {
		if got, err := readPoint([]byte(text), suites); err != nil || got != due {
			t.Errorf("%s: %v, %v; %v was due", text, got, err, due)
		}
	}
	for _, text := range []string{`65536`, `-1`, `"0x10000"`, `[]`, `null`} {
		if got, err := readPoint([]byte(text), suites); err == nil && got.code != 0 {
			t.Errorf("%s: %v", text, got)
		}
	}
	var v version
	if v.UnmarshalJSON([]byte(`"0.9"`)) == nil {
		t.Error("a version that there is not was read")
	}
}

func TestSanitize(t *testing.T) {
	if got := sanitize("a\x1b[31m\u009b2J\u202e\n"); got != "a\ufffd[31m\ufffd2J\ufffd\ufffd" {
		t.Errorf("%q", got)
	}
}
