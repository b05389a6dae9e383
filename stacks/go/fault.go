package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	// How long a silent server stays silent, at most.
	patience = 60 * time.Second
	// Between the bytes of a slow response.
	pause = 500 * time.Millisecond
	// The most that an endless message comes to.
	endless = 64 << 20
	// The most in a record.
	recordBytes = 16 << 10
)

// isBeforeTLS says whether the fault leaves no room for a handshake.
func isBeforeTLS(fault string) bool {
	switch fault {
	case "refuse", "silent", "reset", "garbage", "endless-certificate", "close-mid-handshake":
		return true
	}
	return false
}

// commit does to a fresh connection what fault says.
func commit(fault string, tcp *net.TCPConn) error {
	defer tcp.Close()
	switch fault {
	case "silent":
		drain(tcp)
		return nil
	case "reset":
		// Right after the accept, the reset would race with the client's connect.
		readSome(tcp)
		return tcp.SetLinger(0)
	case "garbage":
		readSome(tcp)
		garbage := make([]byte, 4096)
		for i := range garbage {
			garbage[i] = byte(uint32(i) * 2_654_435_761 >> 24)
		}
		if _, err := tcp.Write(garbage); err != nil {
			return err
		}
		return hangUp(tcp)
	case "endless-certificate":
		readSome(tcp)
		return endlessCertificate(tcp)
	case "close-mid-handshake":
		readSome(tcp)
		return hangUp(tcp)
	}
	return nil
}

type halfCloser interface {
	net.Conn
	CloseWrite() error
}

// badHTTP answers inside TLS with what is not HTTP in either version.
func badHTTP(conn halfCloser) error {
	defer conn.Close()
	readSome(conn)
	if _, err := conn.Write(bytes.Repeat([]byte("\x1b[31mnot a response\r\n\r\n"), 4)); err != nil {
		return err
	}
	return hangUp(conn)
}

// hangUp ends the stream and waits for the client to end it too. What it sent and nobody read would turn the end into a reset, which
// can overtake what was sent before.
func hangUp(conn halfCloser) error {
	if err := conn.CloseWrite(); err != nil {
		return err
	}
	drain(conn)
	return nil
}

func readSome(conn net.Conn) {
	conn.Read(make([]byte, recordBytes))
}

func drain(conn net.Conn) {
	conn.SetReadDeadline(time.Now().Add(patience))
	io.Copy(io.Discard, conn)
}

// endlessCertificate sends a ServerHello of TLS 1.2, then records of a Certificate message (RFC 5246 section 7.4.2) that says it has
// 2^24 - 1 bytes, and another, and so on.
func endlessCertificate(tcp *net.TCPConn) error {
	hello := append([]byte{0x03, 0x03}, bytes.Repeat([]byte{0x5a}, 32)...)
	// No session, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, and renegotiation_info (RFC 5746).
	hello = append(hello, 0x00, 0xc0, 0x2f, 0x00, 0x00, 0x05, 0xff, 0x01, 0x00, 0x01, 0x00)
	message := append([]byte{0x02, 0x00, 0x00, byte(len(hello))}, hello...)
	if err := writeRecord(tcp, message); err != nil {
		return err
	}
	record := bytes.Repeat([]byte{0x30}, recordBytes)
	copy(record, []byte{0x0b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc, 0x00, 0xff, 0xff})
	for sent := 0; sent < endless; sent += len(record) {
		if err := writeRecord(tcp, record); err != nil {
			return err
		}
		copy(record, bytes.Repeat([]byte{0x30}, 10))
	}
	return nil
}

func writeRecord(tcp *net.TCPConn, payload []byte) error {
	const handshake = 22
	header := []byte{handshake, 0x03, 0x03, byte(len(payload) >> 8), byte(len(payload))}
	_, err := tcp.Write(append(header, payload...))
	return err
}

func slowBody(w http.ResponseWriter, r *http.Request, body []byte) {
	flusher := http.NewResponseController(w)
	flusher.Flush()
	for i := range body {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(pause):
		}
		if _, err := w.Write(body[i : i+1]); err != nil {
			return
		}
		flusher.Flush()
	}
}
