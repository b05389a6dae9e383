package main

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// longestRSA is the maximum size of a server's RSA key that crypto/tls accepts.
const longestRSA = 8192

// systemPool is the name of Go's loader of the system's roots: x509.SystemCertPool.
const systemPool = "system-pool"

type verifyRequest struct {
	Stack  string          `json:"stack"`
	Trust  *string         `json:"trust"`
	Chains []chainToVerify `json:"chains"`
}

// chainToVerify has its certificates as DER: encoding/json decodes base64 itself.
type chainToVerify struct {
	Chain   [][]byte `json:"chain_base64"`
	Roots   [][]byte `json:"roots_base64"`
	CRLs    [][]byte `json:"crls_base64"`
	Host    string   `json:"host"`
	AtUnixS uint64   `json:"at_unix_s"`
}

type verifiedAnswer struct {
	Chains []verified `json:"chains"`
	Trust  *trustMade `json:"trust,omitempty"`
}

// trustMade is the system's pool, as net/http's first connection loads it.
type trustMade struct {
	ConnectorNS int64  `json:"connector_ns"`
	Origin      string `json:"origin"`
}

type verified struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// verify makes crypto/x509 verify chains as crypto/tls does for a client.
func (w *worker) verify(line []byte) (string, any, error) {
	var request verifyRequest
	if err := json.Unmarshal(line, &request); err != nil {
		return "", nil, err
	}
	if request.Stack != stackName {
		return "", nil, fmt.Errorf("this worker has no stack %q", request.Stack)
	}
	if err := proven(); err != nil {
		return "unsupported", unsupportedAnswer{err.Error()}, nil
	}
	answer := verifiedAnswer{Chains: make([]verified, 0, len(request.Chains))}
	var own *x509.CertPool
	if request.Trust != nil {
		if *request.Trust != systemPool {
			return "unsupported", unsupportedAnswer{"no roots from " + *request.Trust}, nil
		}
		begun := time.Now()
		pool, err := x509.SystemCertPool()
		took := time.Since(begun).Nanoseconds()
		if err != nil {
			detail := sanitize(err.Error())
			return "failed", failure{"setup", "connector", detail, nil, &took}, nil
		}
		own, answer.Trust = pool, &trustMade{took, "system"}
	}
	for number, chain := range request.Chains {
		if len(chain.Chain) == 0 {
			return "", nil, fmt.Errorf("chain %d has no certificate", number)
		}
		answer.Chains = append(answer.Chains, chain.verdict(own))
	}
	return "verified", answer, nil
}

func (c *chainToVerify) verdict(own *x509.CertPool) verified {
	if len(c.CRLs) > 0 {
		return verified{Outcome: "unsupported", Reason: "crypto/x509 reads no list of revoked certificates when it verifies"}
	}
	at := time.Unix(int64(c.AtUnixS), 0)
	err := c.verify(own, at)
	if err == nil {
		return verified{Outcome: "accepted"}
	}
	reason := certificateFault(err)
	var invalid x509.CertificateInvalidError
	if errors.As(err, &invalid) {
		reason = invalidity(invalid, at)
	}
	if reason == "" {
		reason = "other"
	}
	short := []rune(sanitize(err.Error()))
	return verified{"rejected", reason, string(short[:min(len(short), 200)])}
}

// verify verifies the chain. Its roots are added to the given ones, which may be nil.
func (c *chainToVerify) verify(roots *x509.CertPool, at time.Time) error {
	intermediates := x509.NewCertPool()
	if roots == nil {
		roots = x509.NewCertPool()
	}
	for _, der := range c.Roots {
		// As in AppendCertsFromPEM, a root that cannot be parsed is left out.
		if root, err := x509.ParseCertificate(der); err == nil {
			roots.AddCert(root)
		}
	}
	var leaf *x509.Certificate
	for _, der := range c.Chain {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("failed to parse certificate from server: %w", err)
		}
		if key, ok := certificate.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() > longestRSA {
			return fmt.Errorf("server sent certificate containing RSA key larger than %d bits", longestRSA)
		}
		if leaf == nil {
			leaf = certificate
		} else {
			intermediates.AddCert(certificate)
		}
	}
	return verifyChain(leaf, x509.VerifyOptions{
		Roots:         roots,
		Intermediates: intermediates,
		DNSName:       c.Host,
		CurrentTime:   at,
	})
}
