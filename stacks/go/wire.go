package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// probe records the times and counts of a connection. Goroutines of net/http write it.
type probe struct {
	lock  sync.Mutex
	marks marks
}

// marks are the figures of one connection; a time is zero until it is reached.
type marks struct {
	address     string
	system      bool
	dns         time.Duration
	resolved    time.Time
	connected   time.Time
	clientHello time.Time
	handshake   time.Time
	head        time.Time
	asked       time.Time
	verify      *int64
	negotiated  negotiated
	transfer    transfer
	wrote       bool
	requested   bool
	wire        *wire
}

// aim resets the probe, and sets the address of the next connection.
func (p *probe) aim(address string, resolve string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.marks = marks{address: address, system: resolve == "system"}
}

func (p *probe) read() marks {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.marks
}

// dial connects to the address that the request named, after resolving its host by the system if requested.
func (p *probe) dial(ctx context.Context, hostPort, profile string) (net.Conn, error) {
	aimed := p.read()
	start := time.Now()
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	if aimed.system && net.ParseIP(host) == nil {
		if _, err := net.DefaultResolver.LookupHost(ctx, host); err != nil {
			return nil, err
		}
	}
	resolved := time.Now()
	p.lock.Lock()
	p.marks.dns, p.marks.resolved = resolved.Sub(start), resolved
	p.lock.Unlock()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", aimed.address)
	if err != nil {
		return nil, err
	}
	tcp := conn.(*net.TCPConn)
	if profile == "servo" {
		// Servo leaves Nagle's algorithm on.
		if err := tcp.SetNoDelay(false); err != nil {
			return nil, err
		}
	}
	w := &wire{TCPConn: tcp, probe: p, closed: make(chan struct{})}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.marks.connected, p.marks.wire = time.Now(), w
	return w, nil
}

// now is the configuration's clock.
func (p *probe) now() time.Time {
	now := time.Now()
	p.lock.Lock()
	defer p.lock.Unlock()
	p.marks.asked = now
	return now
}

// verified marks the end of the chain's verification, which began when the clock was last read.
func (p *probe) verified() {
	p.lock.Lock()
	defer p.lock.Unlock()
	took := time.Since(p.marks.asked).Nanoseconds()
	p.marks.verify = &took
}

func (p *probe) handshakeDone(state tls.ConnectionState, err error) {
	if err != nil {
		return
	}
	now := time.Now()
	p.lock.Lock()
	defer p.lock.Unlock()
	m := &p.marks
	m.handshake = now
	m.transfer.HandshakeBytesIn, m.transfer.HandshakeBytesOut = m.transfer.BytesIn, m.transfer.BytesOut
	m.negotiated = agreedOn(&state)
	// The Finished message at the end of a handshake of TLS 1.3 has no answer that a request waits for.
	m.wrote = false
}

func (p *probe) requestWritten(httptrace.WroteRequestInfo) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.marks.requested = true
}

func (p *probe) headReceived() {
	now := time.Now()
	p.lock.Lock()
	defer p.lock.Unlock()
	p.marks.head = now
}

// phase returns the current phase of the connection.
func (m *marks) phase() string {
	switch {
	case m.resolved.IsZero():
		return "dns"
	case m.connected.IsZero():
		return "tcp"
	case m.handshake.IsZero():
		return "tls"
	case m.head.IsZero():
		return "first_byte"
	default:
		return "total"
	}
}

// keepTCPInfo reads the kernel's figures while the socket is open.
func (p *probe) keepTCPInfo() {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.marks.wire != nil {
		if info := tcpInfoOf(p.marks.wire.TCPConn); info != nil {
			p.marks.transfer.TCP = info
		}
	}
}

// abandon closes the rest of a failed connection.
func (p *probe) abandon() {
	if w := p.read().wire; w != nil {
		w.Close()
	}
}

func (p *probe) waitUntilClosed(limit time.Duration) {
	w := p.read().wire
	if w == nil {
		return
	}
	select {
	case <-w.closed:
	case <-time.After(limit):
	}
}

// wire is a TCP connection that counts the transferred bytes, below TLS.
type wire struct {
	*net.TCPConn
	probe  *probe
	once   sync.Once
	closed chan struct{}
}

func (w *wire) Read(to []byte) (int, error) {
	n, err := w.TCPConn.Read(to)
	if n > 0 {
		w.probe.lock.Lock()
		defer w.probe.lock.Unlock()
		m := &w.probe.marks
		m.transfer.BytesIn += int64(n)
		// Tickets and the server's settings may be read before the request is written, or after: nothing waits for them.
		if m.handshake.IsZero() || m.requested {
			if m.wrote {
				m.transfer.RoundTrips++
			}
			m.wrote = false
		}
	}
	return n, err
}

func (w *wire) Write(from []byte) (int, error) {
	w.probe.lock.Lock()
	m := &w.probe.marks
	if m.clientHello.IsZero() {
		m.clientHello = time.Now()
	}
	// The count precedes the write: another goroutine reads the answer, and may have it before this one continues.
	m.transfer.BytesOut += int64(len(from))
	m.wrote = true
	w.probe.lock.Unlock()
	n, err := w.TCPConn.Write(from)
	if n < len(from) {
		w.probe.lock.Lock()
		defer w.probe.lock.Unlock()
		m.transfer.BytesOut -= int64(len(from) - n)
	}
	return n, err
}

func (w *wire) Close() error {
	err := net.ErrClosed
	w.once.Do(func() {
		w.probe.keepTCPInfo()
		err = w.TCPConn.Close()
		close(w.closed)
	})
	return err
}

// tcpInfoOf reads three fields of the kernel's structure (linux/tcp.h); the minimum round-trip time was added in Linux 4.6.
func tcpInfoOf(conn *net.TCPConn) *tcpInfo {
	const rtt, totalRetransmits, minRTT = 68, 100, 148
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	var bytes [256]byte
	length := uint32(len(bytes))
	var failed syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, failed = syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, syscall.IPPROTO_TCP, syscall.TCP_INFO,
			uintptr(unsafe.Pointer(&bytes)), uintptr(unsafe.Pointer(&length)), 0)
	})
	if err != nil || failed != 0 || length < totalRetransmits+4 {
		return nil
	}
	field := func(at int) uint32 { return *(*uint32)(unsafe.Pointer(&bytes[at])) }
	info := &tcpInfo{RTTUS: field(rtt), MinRTTUS: field(rtt), Retransmits: field(totalRetransmits)}
	if length >= minRTT+4 {
		info.MinRTTUS = field(minRTT)
	}
	return info
}
