package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// point is a code point, which is read as a number, as hexadecimal digits or by its registered name. A name that is not in the
// table is kept: Go does not support it.
type point struct {
	code uint16
	name string
}

type (
	version   uint16
	suite     point
	group     point
	signature point
)

var versions = map[string]uint16{
	"ssl3": 0x0300, "1.0": tls.VersionTLS10, "1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13,
}

// groupOrder are Go's groups, in order of preference: that order is fixed in Go and cannot be changed.
var groupOrder = []uint16{
	uint16(tls.X25519MLKEM768), uint16(tls.SecP256r1MLKEM768), uint16(tls.SecP384r1MLKEM1024),
	uint16(tls.X25519), uint16(tls.CurveP256), uint16(tls.CurveP384), uint16(tls.CurveP521),
}

var groups = map[string]uint16{
	"X25519MLKEM768": uint16(tls.X25519MLKEM768), "SecP256r1MLKEM768": uint16(tls.SecP256r1MLKEM768),
	"SecP384r1MLKEM1024": uint16(tls.SecP384r1MLKEM1024), "x25519": uint16(tls.X25519),
	"secp256r1": uint16(tls.CurveP256), "secp384r1": uint16(tls.CurveP384), "secp521r1": uint16(tls.CurveP521),
}

var signatures = withMLDSA(map[string]uint16{
	"rsa_pkcs1_sha256": uint16(tls.PKCS1WithSHA256), "rsa_pkcs1_sha384": uint16(tls.PKCS1WithSHA384),
	"rsa_pkcs1_sha512": uint16(tls.PKCS1WithSHA512), "rsa_pss_rsae_sha256": uint16(tls.PSSWithSHA256),
	"rsa_pss_rsae_sha384": uint16(tls.PSSWithSHA384), "rsa_pss_rsae_sha512": uint16(tls.PSSWithSHA512),
	"ecdsa_secp256r1_sha256": uint16(tls.ECDSAWithP256AndSHA256), "ecdsa_secp384r1_sha384": uint16(tls.ECDSAWithP384AndSHA384),
	"ecdsa_secp521r1_sha512": uint16(tls.ECDSAWithP521AndSHA512), "ed25519": uint16(tls.Ed25519),
})

// suites are Go's suites, which have their registered names.
var suites = func() map[string]uint16 {
	named := map[string]uint16{}
	for _, known := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		named[known.Name] = known.ID
	}
	return named
}()

func (v *version) UnmarshalJSON(text []byte) error {
	p, err := readPoint(text, versions)
	if err != nil {
		return err
	}
	*v = version(p.code)
	for _, known := range versions {
		if known == p.code {
			return nil
		}
	}
	return fmt.Errorf("unknown version %s", text)
}

func (s *suite) UnmarshalJSON(text []byte) error     { return readInto((*point)(s), text, suites) }
func (g *group) UnmarshalJSON(text []byte) error     { return readInto((*point)(g), text, groups) }
func (s *signature) UnmarshalJSON(text []byte) error { return readInto((*point)(s), text, signatures) }

func (v version) MarshalJSON() ([]byte, error) {
	for name, code := range versions {
		if code == uint16(v) {
			return json.Marshal(name)
		}
	}
	return nil, fmt.Errorf("no version %#04x", uint16(v))
}

func (s suite) MarshalJSON() ([]byte, error)     { return json.Marshal(s.code) }
func (g group) MarshalJSON() ([]byte, error)     { return json.Marshal(g.code) }
func (s signature) MarshalJSON() ([]byte, error) { return json.Marshal(s.code) }

func readInto(p *point, text []byte, known map[string]uint16) (err error) {
	*p, err = readPoint(text, known)
	return err
}

func readPoint(text []byte, known map[string]uint16) (point, error) {
	var code uint16
	if json.Unmarshal(text, &code) == nil {
		return point{code, fmt.Sprintf("0x%04X", code)}, nil
	}
	var name string
	if err := json.Unmarshal(text, &name); err != nil {
		return point{}, err
	}
	if code, ok := known[name]; ok {
		return point{code, name}, nil
	}
	if digits, ok := strings.CutPrefix(name, "0x"); ok {
		code, err := strconv.ParseUint(digits, 16, 16)
		return point{uint16(code), name}, err
	}
	return point{0, name}, nil
}

func isSuite13(code uint16) bool {
	return code>>8 == 0x13
}

// knownSuite reports whether Go has the suite.
func knownSuite(code uint16) bool {
	for known := range maps.Values(suites) {
		if known == code {
			return true
		}
	}
	return false
}
