package main

import (
	"crypto/fips140"
	"crypto/tls"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

type descriptionAnswer struct {
	Protocol int                `json:"protocol"`
	Stacks   []stackDescription `json:"stacks"`
}

type stackDescription struct {
	Record     workerRecord `json:"record"`
	Operations []string     `json:"operations"`
	Trust      []string     `json:"trust_sources"`
	Groups     []uint16     `json:"groups"`
	Suites     []uint16     `json:"suites"`
	Signatures []uint16     `json:"signatures"`
}

type workerRecord struct {
	Executable string            `json:"executable"`
	Stack      string            `json:"stack"`
	Library    string            `json:"library"`
	Provider   *string           `json:"provider"`
	Connector  string            `json:"connector"`
	Build      map[string]string `json:"build"`
}

func describe() descriptionAnswer {
	executable := "netbench-worker-go"
	if path, err := os.Executable(); err == nil {
		executable = filepath.Base(path)
	}
	release := strings.TrimPrefix(runtime.Version(), "go")
	gc := os.Getenv("GOGC")
	if gc == "" {
		gc = "100"
	}
	build := map[string]string{
		"profile": "release",
		"target":  runtime.GOOS + "/" + runtime.GOARCH,
		"go":      runtime.Version(),
		"cgo":     "off",
		"GOGC":    gc,
	}
	if inFIPSMode {
		build["fips140"] = fips140.Version()
	}
	if notTheVariant != "" {
		build["not_the_variant"] = notTheVariant
	}
	return descriptionAnswer{protocolVersion, []stackDescription{{
		Record: workerRecord{
			Executable: executable,
			Stack:      stackName,
			Library:    "Go " + release + " crypto/tls",
			Connector:  "net/http " + release,
			Build:      build,
		},
		Operations: []string{"connect", "serve", "suite", "request", "client-certificate", "client-file", "verify", "ech", "serves-ech"},
		Trust:      []string{systemPool},
		Groups:     describedGroups,
		Suites:     describedSuites(),
		Signatures: slices.Sorted(maps.Values(signatures)),
	}}}
}

// describedGroups are the groups that netbench may request. Go has three more, which it offers by default in
// the profile library.
var describedGroups = []uint16{
	uint16(tls.X25519MLKEM768), uint16(tls.X25519), uint16(tls.CurveP256), uint16(tls.CurveP384),
}

func describedSuites() []uint16 {
	var codes []uint16
	for _, known := range tls.CipherSuites() {
		codes = append(codes, known.ID)
	}
	for _, known := range tls.InsecureCipherSuites() {
		if slices.Contains(known.SupportedVersions, tls.VersionTLS12) {
			codes = append(codes, known.ID)
		}
	}
	return slices.DeleteFunc(codes, func(code uint16) bool { return !knownSuite(code) })
}
