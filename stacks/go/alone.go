package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
)

// newVerify verifies the server's chain, from DER to the verdict, with the name and the dates.
func newVerify(given *material) (*scenario, error) {
	verify, err := verifier(given)
	if err != nil {
		return nil, err
	}
	return alone("verify", verify)
}

// verifier returns a verification of the server's chain, which may run on several threads at once.
func verifier(given *material) (func() error, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(given.RootsPEM)) {
		return nil, errors.New("roots: none that Go can use")
	}
	chain, err := certificatesOf(given.ChainPEM)
	if err != nil {
		return nil, err
	}
	verify := func() error {
		options := x509.VerifyOptions{Roots: roots, DNSName: given.Host, Intermediates: x509.NewCertPool()}
		var leaf *x509.Certificate
		for i, der := range chain {
			certificate, err := x509.ParseCertificate(der)
			if err != nil {
				return err
			}
			if i == 0 {
				leaf = certificate
			} else {
				options.Intermediates.AddCert(certificate)
			}
		}
		return verifyChain(leaf, options)
	}
	return verify, nil
}

// newConfiguration makes a client's configuration. The system's bundle is read from its file each time: Go itself reads it
// (x509.SystemCertPool) once per process.
func newConfiguration(form string, given *material) (*scenario, error) {
	var roots func() (*x509.CertPool, error)
	ofPEM := func(text []byte) (*x509.CertPool, error) {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, errors.New("roots: none that Go can use")
		}
		return pool, nil
	}
	switch form {
	case "pem":
		text := []byte(given.RootsPEM)
		roots = func() (*x509.CertPool, error) { return ofPEM(text) }
	case "der":
		all, err := certificatesOf(given.RootsPEM)
		if err != nil {
			return nil, err
		}
		roots = func() (*x509.CertPool, error) { return ofDER(all) }
	case "native":
		if given.NativePath == nil {
			return nil, unsupported("this system has no bundle of trust roots")
		}
		roots = func() (*x509.CertPool, error) {
			text, err := os.ReadFile(*given.NativePath)
			if err != nil {
				return nil, err
			}
			return ofPEM(text)
		}
	default:
		return nil, errors.New("unknown form of trust roots " + form)
	}
	return alone("configuration", func() error {
		pool, err := roots()
		made = &tls.Config{RootCAs: pool}
		return err
	})
}

// made keeps the compiler from omitting unused results.
var made *tls.Config

func ofDER(all [][]byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	for _, der := range all {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, err
		}
		pool.AddCert(certificate)
	}
	return pool, nil
}

// mostInBatch is the maximum number of operations that are timed together.
const mostInBatch = 1_000_000

// alone repeats an operation of a client without a session.
func alone(word string, operation func() error) (*scenario, error) {
	return prepared(word, nil, operation)
}

// prepared repeats an operation, each time after its preparation, which is not timed. Where the preparation is nil, operations
// may be timed in batches.
func prepared(word string, before, operation func() error) (*scenario, error) {
	inBatches := before == nil
	if inBatches {
		before = func() error { return nil }
	}
	if err := before(); err != nil {
		return nil, &stepError{word, err}
	}
	if err := operation(); err != nil {
		return nil, &stepError{word, err}
	}
	return &scenario{slice: func(t *turn) error {
		batch := uint32(1)
		if inBatches {
			batch = max(1, min(t.request.Batch, mostInBatch))
		}
		t.sliced.Batch = batch
		all := func() error {
			for range batch {
				if err := operation(); err != nil {
					return err
				}
			}
			return nil
		}
		for t.goesOn() {
			var whole meter
			if err := before(); err != nil {
				return &stepError{word, err}
			}
			if err := whole.time(t.request.Clocks, all); err != nil {
				return &stepError{word, err}
			}
			t.sliced.Operations++
			t.record("whole", whole)
		}
		return nil
	}}, nil
}

func certificatesOf(text string) ([][]byte, error) {
	var all [][]byte
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type == "CERTIFICATE" {
			all = append(all, block.Bytes)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no certificate in the PEM")
	}
	return all, nil
}
