package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"reflect"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// longestDetail is the maximum length of a failure's detail, and longestName that of a name made from an
// error's text.
const (
	longestDetail = 600
	longestName   = 60
)

// explained returns the meaning of an error, in the terms of FailureReason in netbench/tls/src/failure.rs.
func explained(err error, m *marks, limit, after time.Duration) *failure {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	phase, ns := m.phase(), after.Nanoseconds()
	detail := err.Error()
	class, reason := explain(err, phase)
	if class == "timeout" && reason == "" {
		reason, detail = "in "+phase, fmt.Sprintf("no end within %d ms", limit.Milliseconds())
	}
	short := []rune(sanitize(detail))
	return &failure{class, reason, string(short[:min(len(short), longestDetail)]), &phase, &ns}
}

func explain(err error, phase string) (class, reason string) {
	if fault := certificateFault(err); fault != "" {
		return "certificate", fault
	}
	var rejection *tls.ECHRejectionError
	if errors.As(err, &rejection) {
		return "ech-rejected", "rejected"
	}
	// Go reads the configurations of Encrypted ClientHello when it connects, before it sends anything.
	if strings.Contains(err.Error(), "ECHConfig") || strings.Contains(err.Error(), "EncryptedClientHelloConfigList") {
		return "setup", "configuration"
	}
	if alert, ok := remoteAlert(err); ok {
		return "alert", fmt.Sprintf("0x%02x", alert)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return "timeout", ""
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		if dns.IsNotFound {
			return "resolve", "not found"
		}
		return "resolve", "failed"
	}
	if class, reason := ofSystem(err, phase); class != "" {
		return class, reason
	}
	isEnd := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	switch phase {
	case "dns":
		return "resolve", "failed"
	case "tcp":
		return "connect", "failed"
	case "tls":
		if isEnd {
			return "closed", "end of stream"
		}
		return "protocol", nameOf(err)
	}
	switch {
	case isEnd:
		return "http", "incomplete"
	case strings.Contains(err.Error(), "malformed HTTP"):
		return "http", "not HTTP"
	default:
		return "http", "failed"
	}
}

func ofSystem(err error, phase string) (class, reason string) {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return "", ""
	}
	switch number {
	case syscall.ECONNREFUSED:
		return "connect", "refused"
	case syscall.EHOSTUNREACH, syscall.ENETUNREACH:
		return "connect", "unreachable"
	case syscall.ECONNRESET:
		return "closed", "reset"
	case syscall.EPIPE, syscall.ECONNABORTED:
		return "closed", "closed"
	case syscall.ETIMEDOUT:
		if phase == "tcp" {
			return "connect", "timed out"
		}
		return "timeout", "in the kernel"
	}
	return "", ""
}

// remoteAlert returns the alert that the server sent. Its type is private to crypto/tls.
func remoteAlert(err error) (uint8, bool) {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" {
		return 0, false
	}
	alert := reflect.ValueOf(op.Err)
	if alert.Kind() != reflect.Uint8 {
		return 0, false
	}
	return uint8(alert.Uint()), true
}

// certificateFault returns crypto/x509's fault of a certificate, or an empty string for another error.
func certificateFault(err error) string {
	var (
		invalid  x509.CertificateInvalidError
		host     x509.HostnameError
		unknown  x509.UnknownAuthorityError
		critical x509.UnhandledCriticalExtension
		insecure x509.InsecureAlgorithmError
		refused  *tls.CertificateVerificationError
	)
	text := err.Error()
	switch {
	case errors.As(err, &host):
		return "wrong-name"
	case errors.As(err, &invalid):
		return invalidity(invalid, time.Now())
	case errors.As(err, &critical):
		return "unknown-critical-extension"
	case errors.As(err, &insecure), errors.Is(err, x509.ErrUnsupportedAlgorithm):
		return "weak-or-unknown-signature"
	case errors.As(err, &unknown):
		// This hint has no separate type.
		if strings.Contains(text, "verification error") || strings.Contains(text, "verification failure") {
			return "bad-signature"
		}
		return "unknown-issuer"
	case strings.Contains(text, "failed to parse certificate from server"):
		return "bad-encoding"
	case strings.Contains(text, "RSA key larger than"), strings.Contains(text, "unsupported type of public key"),
		strings.Contains(text, "no FIPS compatible certificate chains"):
		return "weak-or-unknown-signature"
	case strings.Contains(text, "received empty certificates message"):
		return "none presented"
	case errors.As(err, &refused):
		return "other"
	}
	return ""
}

func invalidity(invalid x509.CertificateInvalidError, at time.Time) string {
	switch invalid.Reason {
	case x509.Expired:
		if invalid.Cert != nil && at.Before(invalid.Cert.NotBefore) {
			return "not-yet-valid"
		}
		return "expired"
	case x509.NotAuthorizedToSign, x509.TooManyIntermediates:
		return "bad-ca"
	case x509.IncompatibleUsage, x509.CANotAuthorizedForExtKeyUsage:
		return "bad-purpose"
	case x509.NameMismatch, x509.NoValidChains:
		return "unknown-issuer"
	default:
		return "other"
	}
}

// nameOf returns a name made from an error's text: crypto/tls has none. The name ends before the variable
// part, such as a number.
func nameOf(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	text := strings.TrimPrefix(err.Error(), "tls: ")
	text, _, _ = strings.Cut(text, ":")
	var words []string
	for _, word := range strings.Fields(strings.ToLower(text)) {
		if strings.ContainsFunc(word, unicode.IsDigit) && !strings.HasPrefix(word, "tls") {
			break
		}
		letters := strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
				return c
			}
			return -1
		}, word)
		if letters != "" {
			words = append(words, letters)
		}
	}
	name := strings.Join(words, "-")
	if len(name) > longestName {
		name = strings.TrimRight(name[:longestName], "-")
	}
	if name == "" {
		return "unexplained"
	}
	return name
}
