package main

import (
	"crypto/fips140"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"os"
	"slices"
	_ "unsafe" // for linkname
)

// The variant +fips is this program with GODEBUG=fips140=on: Go's FIPS 140-3 module does the cryptography, and crypto/tls does
// not use algorithms that are not approved. The module itself reports whether the mode is on.

// variants are the variants that this worker must prove, from the environment. Their names end the worker's name.
var variants = os.Getenv("NETBENCH_VARIANTS")

var stackName = "go" + variants

// inFIPSMode is the module's report on this process.
var inFIPSMode = fips140.Enabled()

// notTheVariant is the reason why this process is not the variant of its name.
var notTheVariant = lacksVariant(variants, inFIPSMode)

// proven refuses any work under the name of another variant.
func proven() error {
	if notTheVariant != "" {
		return unsupported(notTheVariant)
	}
	return nil
}

func lacksVariant(asked string, inFIPSMode bool) string {
	switch {
	case asked != "" && asked != "+fips":
		return "a worker in Go has no variants but +fips"
	case asked != "" && !inFIPSMode:
		return "crypto/fips140 says that FIPS 140-3 mode is off"
	case asked == "" && inFIPSMode:
		return "crypto/fips140 says that FIPS 140-3 mode is on, which go+fips is for"
	}
	return ""
}

// approvedVersions and the following are crypto/tls' restrictions in FIPS mode. In place of the suites of TLS 1.3 that
// holdSuites13 sets, it then has a separate list. Linknames to these need the linker's -checklinkname=0.
//
//go:linkname approvedVersions crypto/tls.allowedSupportedVersionsFIPS
var approvedVersions []uint16

//go:linkname approvedGroups crypto/tls.allowedCurvePreferencesFIPS
var approvedGroups []tls.CurveID

//go:linkname approvedSignatures crypto/tls.allowedSignatureAlgorithmsFIPS
var approvedSignatures []tls.SignatureScheme

//go:linkname approvedSuites crypto/tls.allowedCipherSuitesFIPS
var approvedSuites []uint16

//go:linkname approvedSuites13 crypto/tls.allowedCipherSuitesTLS13FIPS
var approvedSuites13 []uint16

// approvedChains leaves out chains with a key that is not approved, only in FIPS mode. crypto/tls filters the chains that
// crypto/x509 has verified by it.
//
//go:linkname approvedChains crypto/tls.fipsAllowedChains
func approvedChains(chains [][]*x509.Certificate) ([][]*x509.Certificate, error)

// ownApproved13 are Go's default suites in FIPS mode.
var ownApproved13 = approvedSuites13

// In FIPS mode, this worker knows no other algorithms by name or number.
func init() {
	if !inFIPSMode {
		return
	}
	maps.DeleteFunc(suites, func(_ string, code uint16) bool {
		return !slices.Contains(approvedSuites, code) && !slices.Contains(approvedSuites13, code)
	})
	maps.DeleteFunc(groups, func(_ string, code uint16) bool { return !slices.Contains(approvedGroups, tls.CurveID(code)) })
	maps.DeleteFunc(signatures, func(_ string, code uint16) bool {
		return !slices.Contains(approvedSignatures, tls.SignatureScheme(code))
	})
	notApproved := func(code uint16) bool { return !slices.Contains(approvedGroups, tls.CurveID(code)) }
	groupOrder = slices.DeleteFunc(groupOrder, notApproved)
	describedGroups = slices.DeleteFunc(describedGroups, notApproved)
	offeredSuites = slices.DeleteFunc(offeredSuites, func(code uint16) bool { return !knownSuite(code) })
}

// lacks returns the refusal of a feature that Go does not have, or not in FIPS mode.
func lacks(what string) unsupported {
	library := "Go"
	if inFIPSMode {
		library = "Go in FIPS mode"
	}
	return unsupported(fmt.Sprintf("%s has no %s", library, what))
}

// verifyChain makes crypto/x509 verify a chain as crypto/tls does for a client.
func verifyChain(leaf *x509.Certificate, options x509.VerifyOptions) error {
	chains, err := leaf.Verify(options)
	if err != nil {
		return err
	}
	_, err = approvedChains(chains)
	return err
}
