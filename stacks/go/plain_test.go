package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// A plain program: handshakes as Go's users make them, each side in a goroutine, without code of netbench in what is timed. The example
// `beside` of netbench-worker-test runs it in turns with the worker, with the certificates in the file that this variable names.
const plainMaterial = "NETBENCH_PLAIN_MATERIAL"

// Operations that warm a benchmark up.
const plainWarmUp = 10

// way holds what one side has written and the other has not read.
type way struct {
	lock  sync.Mutex
	came  *sync.Cond
	bytes []byte
}

func newWay() *way {
	w := &way{}
	w.came = sync.NewCond(&w.lock)
	return w
}

// end is one side's connection. Only Read and Write are ever called.
type end struct {
	net.Conn
	in, out *way
}

func (e end) Read(to []byte) (int, error) {
	e.in.lock.Lock()
	defer e.in.lock.Unlock()
	for len(e.in.bytes) == 0 {
		e.in.came.Wait()
	}
	n := copy(to, e.in.bytes)
	e.in.bytes = e.in.bytes[n:]
	return n, nil
}

func (e end) Write(from []byte) (int, error) {
	e.out.lock.Lock()
	defer e.out.lock.Unlock()
	e.out.bytes = append(e.out.bytes, from...)
	e.out.came.Signal()
	return len(from), nil
}

func plainConfigs(b *testing.B, version uint16, resumes bool) (client, server *tls.Config) {
	file := os.Getenv(plainMaterial)
	if file == "" {
		b.Skip(plainMaterial + " names no file")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	var given material
	if err := json.Unmarshal(text, &given); err != nil {
		b.Fatal(err)
	}
	own, err := tls.X509KeyPair([]byte(given.ChainPEM), []byte(given.KeyPEM))
	if err != nil {
		b.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(given.RootsPEM))
	common := tls.Config{
		MinVersion: version, MaxVersion: version, CurvePreferences: []tls.CurveID{tls.X25519},
		CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256},
	}
	client, server = common.Clone(), common.Clone()
	client.RootCAs, client.ServerName = roots, given.Host
	server.Certificates = []tls.Certificate{own}
	if resumes {
		client.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	} else {
		server.SessionTicketsDisabled = true
	}
	return client, server
}

func plainHandshake(b *testing.B, client, server *tls.Config) (resumed bool) {
	up, down := newWay(), newWay()
	served := make(chan error)
	go func() { served <- tls.Server(end{in: up, out: down}, server).Handshake() }()
	conn := tls.Client(end{in: down, out: up}, client)
	if err := conn.Handshake(); err != nil {
		b.Fatal(err)
	}
	if err := <-served; err != nil && err != io.EOF {
		b.Fatal(err)
	}
	return conn.ConnectionState().DidResume
}

func plainBenchmark(b *testing.B, version uint16, resumes bool) {
	client, server := plainConfigs(b, version, resumes)
	for range plainWarmUp {
		plainHandshake(b, client, server)
	}
	var took []float64
	for b.Loop() {
		begun := time.Now()
		resumed := plainHandshake(b, client, server)
		took = append(took, float64(time.Since(begun)))
		if resumed != resumes {
			b.Fatalf("resumed is %v", resumed)
		}
	}
	slices.Sort(took)
	quantile := func(share float64) float64 { return took[int(share*float64(len(took)-1))] }
	b.ReportMetric(quantile(0.10), "p10-ns")
	b.ReportMetric(quantile(0.50), "p50-ns")
	b.ReportMetric(quantile(0.95), "p95-ns")
}

func BenchmarkPlainFull12(b *testing.B)   { plainBenchmark(b, tls.VersionTLS12, false) }
func BenchmarkPlainFull13(b *testing.B)   { plainBenchmark(b, tls.VersionTLS13, false) }
func BenchmarkPlainTicket12(b *testing.B) { plainBenchmark(b, tls.VersionTLS12, true) }
