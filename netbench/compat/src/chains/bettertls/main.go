// Prints every case of BetterTLS (github.com/Netflix/bettertls), one line of JSON each. The first line has the root,
// and when the certificates were made.
package main

import (
	"bufio"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/Netflix/bettertls/test-suites/certutil"
	"github.com/Netflix/bettertls/test-suites/nameconstraints"
	"github.com/Netflix/bettertls/test-suites/pathbuilding"
	test_case "github.com/Netflix/bettertls/test-suites/test-case"
)

// Goroutines that sign: as many as a small machine has cores.
const workers = 4

type head struct {
	Root  []byte `json:"root"`
	MadeS int64  `json:"made_unix_s"`
	Cases uint   `json:"cases"`
}

type entry struct {
	Name   string   `json:"name"`
	MadeOf []string `json:"made_of"`
	Due    string   `json:"due"`
	Host   string   `json:"host"`
	Chain  [][]byte `json:"chain"`
}

func main() {
	if err := export(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func export() error {
	root, key, err := certutil.GenerateSelfSignedCert("bettertls_trust_root")
	if err != nil {
		return err
	}
	suites := []struct {
		kind     string
		provider test_case.TestCaseProvider
	}{
		{"path-building", pathbuilding.NewTestCaseProvider()},
		{"name-constraints", nameconstraints.NewTestCaseProvider()},
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	lines := json.NewEncoder(out)
	about := head{Root: root.Raw, MadeS: time.Now().Unix()}
	for _, suite := range suites {
		count, err := suite.provider.GetTestCaseCount()
		if err != nil {
			return err
		}
		about.Cases += count
	}
	if err := lines.Encode(about); err != nil {
		return err
	}
	for _, suite := range suites {
		entries, err := all(suite.kind, suite.provider, root, key)
		if err != nil {
			return err
		}
		for _, one := range entries {
			if err := lines.Encode(one); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// all makes the cases of a suite, in their order.
func all(kind string, provider test_case.TestCaseProvider, root *x509.Certificate, key crypto.Signer) ([]entry, error) {
	count, err := provider.GetTestCaseCount()
	if err != nil {
		return nil, err
	}
	entries := make([]entry, count)
	failures := make([]error, workers)
	var group sync.WaitGroup
	for worker := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for index := uint(worker); index < count; index += workers {
				entries[index], failures[worker] = one(kind, index, provider, root, key)
				if failures[worker] != nil {
					return
				}
			}
		}()
	}
	group.Wait()
	for _, failure := range failures {
		if failure != nil {
			return nil, failure
		}
	}
	return entries, nil
}

func one(kind string, index uint, provider test_case.TestCaseProvider, root *x509.Certificate, key crypto.Signer) (entry, error) {
	found, err := provider.GetTestCase(index)
	if err != nil {
		return entry{}, err
	}
	certificate, err := found.GetCertificates(root, key)
	if err != nil {
		return entry{}, fmt.Errorf("%s %d: %w", kind, index, err)
	}
	return entry{
		Name:   fmt.Sprintf("bettertls/%s/%d", kind, index),
		MadeOf: madeOf(found),
		Due:    due(found.ExpectedResult()),
		Host:   found.GetHostname(),
		Chain:  certificate.Certificate,
	}, nil
}

func due(expected test_case.ExpectedResult) string {
	switch expected {
	case test_case.EXPECTED_RESULT_PASS:
		return "must accept"
	case test_case.EXPECTED_RESULT_SOFT_PASS:
		return "should accept"
	case test_case.EXPECTED_RESULT_SOFT_FAIL:
		return "should reject"
	}
	return "must reject"
}

func madeOf(found test_case.TestCase) []string {
	switch found := found.(type) {
	case *pathbuilding.TestCaseImpl:
		explicit := found.ExplicitTestCase
		parts := []string{
			fmt.Sprintf("certificates=%d", explicit.TrustGraph.EdgeCount()),
			"from=" + word(explicit.SrcNode),
			"to=" + word(explicit.DstNode),
		}
		for _, edge := range explicit.InvalidEdges {
			parts = append(parts, "bad="+word(edge.Source)+">"+word(edge.Destination))
		}
		if len(explicit.InvalidEdges) > 0 {
			parts = append(parts, "by="+word(found.InvalidReason.String()))
		}
		return parts
	case *nameconstraints.NameConstraintsTestCase:
		return constraints(*found)
	case nameconstraints.NameConstraintsTestCase:
		return constraints(found)
	}
	return nil
}

func constraints(found nameconstraints.NameConstraintsTestCase) []string {
	commonName := word(found.CommonNameValue.String())
	if found.CommonNameValue != nameconstraints.EXTVAL_NONE {
		commonName += "-" + word(found.CommonNameType.String())
	}
	parts := []string{
		"host=" + word(found.ClientHostnameType.String()),
		"common-name=" + commonName,
		"dns-san=" + word(found.DnsSan.String()),
		"ip-san=" + word(found.IpSan.String()),
		"permitted-dns=" + word(found.NameConstraintsDnsWhitelist.String()),
		"excluded-dns=" + word(found.NameConstraintsDnsBlacklist.String()),
		"permitted-ip=" + word(found.NameConstraintsIpWhitelist.String()),
		"excluded-ip=" + word(found.NameConstraintsIpBlacklist.String()),
	}
	if found.ExtraSan != nil {
		parts = append(parts, "extra-san=yes")
	}
	return parts
}

// word is what a name of BetterTLS is in the words of netbench.
func word(name string) string {
	return strings.ToLower(strings.NewReplacer(" ", "-", "_", "-").Replace(name))
}
