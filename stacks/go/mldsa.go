package main

import (
	"crypto"
	"crypto/tls"
	"strings"
)

// mlDSAOfGo is Go's ML-DSA, which Go has since version 1.27; earlier versions have the zero value.
type mlDSAOfGo struct {
	// schemes are the schemes by key type.
	schemes map[string]tls.SignatureScheme
	// isKey reports whether a private key is one of ML-DSA.
	isKey func(any) bool
	// verify returns the error of a wrong signature, and whether the key is one of ML-DSA.
	verify func(public crypto.PublicKey, message, signature []byte) (wrong error, isKey bool)
}

// withMLDSA adds the schemes of ML-DSA, where Go has them.
func withMLDSA(schemes map[string]uint16) map[string]uint16 {
	for key, scheme := range mlDSA.schemes {
		schemes[strings.ReplaceAll(key, "-", "")] = uint16(scheme)
	}
	return schemes
}

// hasKey refuses a type of key of ML-DSA where Go lacks it, or not in FIPS mode.
func hasKey(key string) error {
	if _, ok := signatures[strings.ReplaceAll(key, "-", "")]; !ok && strings.HasPrefix(key, "mldsa-") {
		return lacks("key of type " + key)
	}
	return nil
}

// hasSchemes refuses the schemes of ML-DSA where Go lacks them.
func hasSchemes(wanted []signature) error {
	for _, s := range wanted {
		if _, ok := signatures[s.name]; !ok && strings.HasPrefix(s.name, "mldsa") {
			return lacks("signature scheme " + s.name)
		}
	}
	return nil
}
