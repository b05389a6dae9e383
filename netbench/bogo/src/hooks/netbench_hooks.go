// Package runner, with what netbench adds to it: the version that a test's name demands is checked and given to the
// shim, what each test is about is written down, and a shim that ends with "unimplemented" is asked why.
package runner

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"boringssl.googlesource.com/boringssl.git/util/testresult"
)

// netbenchFacts is the file for what each test is about, a line a test; there is none unless it is asked for.
var netbenchFacts = os.Getenv("NETBENCH_BOGO_FACTS")

var netbenchLock sync.Mutex

// netbenchWhy has what shims said that do not implement a test, by the test's name.
var netbenchWhy = make(map[string]string)

// netbenchBegin is called for each test just before its shim is started with flags, and returns the shim's environment.
func netbenchBegin(test *testCase, flags []string, env []string) []string {
	netbenchDemandVersion(test)
	netbenchWriteFacts(test, flags)
	named := netbenchNamed(test)
	if named == nil || test.skipVersionNameCheck {
		return env
	}
	if env == nil {
		env = os.Environ()
	}
	return append(env, "NETBENCH_BOGO_NAMED="+strings.ToLower(test.protocol.String())+" "+named.name)
}

func netbenchWriteFacts(test *testCase, flags []string) {
	if netbenchFacts == "" {
		return
	}
	netbenchLock.Lock()
	defer netbenchLock.Unlock()
	file, err := os.OpenFile(netbenchFacts, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	role := "client"
	if test.testType == serverTest {
		role = "server"
	}
	columns := []string{
		test.name,
		role,
		strings.ToLower(test.protocol.String()),
		netbenchVersion(test, flags),
		strings.Join(netbenchFlags(flags), " "),
		netbenchText(strings.TrimSpace(test.expectedError + " " + test.expectedLocalError)),
		netbenchText(strings.Join(netbenchSends(test), ", ")),
	}
	if _, err := fmt.Fprintln(file, strings.Join(columns, "\t")); err != nil {
		panic(err)
	}
}

// netbenchNamed is the one version in the name of a test, such as TLS13 or DTLS13; nil where there is none, or more than one.
func netbenchNamed(test *testCase) *tlsVersion {
	var found *tlsVersion
	name := "-" + test.name + "-"
	for i := range tlsVersions {
		version := tlsVersions[i].name + "-"
		if strings.Contains(name, "-"+version) || strings.Contains(name, "-D"+version) {
			if found != nil {
				return nil
			}
			found = &tlsVersions[i]
		}
	}
	return found
}

// netbenchDemandVersion has connections fail that end at another version than the test's name says.
func netbenchDemandVersion(test *testCase) {
	named := netbenchNamed(test)
	if named == nil || test.skipVersionNameCheck || test.shouldFail {
		return
	}
	version := min(named.version, netbenchMost(test, test.flags))
	bounds := func(config *Config) bool {
		return config.MaxVersion == version || config.MaxVersion == 0 && config.MinVersion == version
	}
	first := bounds(&test.config)
	later := test.resumeConfig == nil && first || test.resumeConfig != nil && bounds(test.resumeConfig)
	bounded := version < named.version || slices.Contains(test.flags, named.shimFlag(test.protocol))
	allowed := test.config.MaxVersion == 0 || test.config.MaxVersion >= version
	if !first && !later && bounded && allowed {
		// The shim's flags bound all connections.
		first, later = true, true
	}
	if test.resumeExpectations == nil && (test.resumeConfig != nil || first != later) {
		copied := test.expectations
		test.resumeExpectations = &copied
	}
	demand := func(expectations *connectionExpectations, wanted bool) {
		if wanted && expectations.version == 0 {
			expectations.version = version
		}
	}
	demand(&test.expectations, first)
	if test.resumeExpectations != nil {
		demand(test.resumeExpectations, later)
	}
}

// netbenchVersion is the version that a test is about: the one of its name or of its expectations, or else the
// highest that both sides permit.
func netbenchVersion(test *testCase, flags []string) string {
	version := test.expectations.version
	if slices.Contains(flags, "-fallback-scsv") {
		// The signal is of versions before TLS 1.3, which has another one (RFC 8446 section 4.1.3).
		return "TLS12"
	}
	if named := netbenchNamed(test); named != nil {
		version = min(named.version, netbenchMost(test, flags))
	} else if version == 0 {
		version = netbenchMost(test, flags)
		if test.config.MaxVersion != 0 {
			version = min(version, test.config.MaxVersion)
		}
	}
	for _, known := range tlsVersions {
		if known.version == version {
			return known.name
		}
	}
	return "TLS13"
}

// netbenchMost is the highest version that the shim's flags permit on every connection.
func netbenchMost(test *testCase, flags []string) uint16 {
	at := slices.Index(flags, "-max-version")
	for _, known := range tlsVersions {
		if at >= 0 && flags[at+1] == known.shimFlag(test.protocol) {
			return known.version
		}
	}
	return VersionTLS13
}

// netbenchFlags are the names of a test's flags, but for those that nearly every test has.
func netbenchFlags(flags []string) []string {
	usual := []string{"-trust-cert", "-cert-file", "-key-file", "-server", "-dtls", "-quic"}
	var names []string
	for _, flag := range flags {
		for _, prefix := range []string{"-on-initial", "-on-resume", "-on-retry"} {
			if rest, found := strings.CutPrefix(flag, prefix); found && strings.HasPrefix(rest, "-") {
				flag = rest
			}
		}
		isFlag := len(flag) > 1 && flag[0] == '-' && flag[1] >= 'a' && flag[1] <= 'z'
		if isFlag && !slices.Contains(usual, flag) && !slices.Contains(names, flag) {
			names = append(names, flag)
		}
	}
	slices.Sort(names)
	return names
}

// netbenchSends is what the runner does that a good peer would not, or not always, in the runner's own names.
func netbenchSends(test *testCase) []string {
	var sends []string
	if test.sendPrefix != "" {
		sends = append(sends, "sendPrefix "+strconv.Quote(test.sendPrefix))
	}
	sends = netbenchFields(sends, "", reflect.ValueOf(test.config.Bugs))
	if test.resumeConfig != nil {
		sends = netbenchFields(sends, "on resumption ", reflect.ValueOf(test.resumeConfig.Bugs))
	}
	whole := reflect.ValueOf(*test)
	for _, name := range []string{
		"renegotiate", "sendHalfHelloRequest", "replayWrites", "damageFirstWrite", "sendEmptyRecords",
		"sendWarningAlerts", "sendUserCanceledAlerts", "sendBogusAlertType", "sendKeyUpdates",
	} {
		if field := whole.FieldByName(name); !field.IsZero() {
			sends = append(sends, name+netbenchValue(field))
		}
	}
	return sends
}

func netbenchFields(into []string, before string, bugs reflect.Value) []string {
	for i := range bugs.NumField() {
		if field := bugs.Field(i); !field.IsZero() {
			into = append(into, before+bugs.Type().Field(i).Name+netbenchValue(field))
		}
	}
	return into
}

// netbenchValue is a value that fits a line, after a space; nothing where the name says it all.
func netbenchValue(value reflect.Value) string {
	switch {
	case value.CanInt():
		return fmt.Sprintf(" %d", value.Int())
	case value.CanUint():
		return fmt.Sprintf(" 0x%04x", value.Uint())
	case value.Kind() == reflect.String && value.Len() < 40:
		return " " + strconv.Quote(value.String())
	}
	return ""
}

func netbenchText(text string) string {
	return strings.Map(func(char rune) rune {
		if char < ' ' || char > '~' {
			return '?'
		}
		return char
	}, text)
}

// netbenchUnimplemented is called where a shim ended with "unimplemented", with what it said.
func netbenchUnimplemented(test *testCase, said string) {
	netbenchLock.Lock()
	defer netbenchLock.Unlock()
	netbenchWhy[test.name] = said
}

// netbenchSkipped is called where such a test has been put into the results, and adds what the shim said.
func netbenchSkipped(results *testresult.Results, name string) {
	netbenchLock.Lock()
	defer netbenchLock.Unlock()
	result := results.Tests[name]
	result.Error = netbenchWhy[name]
	results.Tests[name] = result
}
