package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	// patience is the maximum time for which a silent server stays silent.
	patience = 60 * time.Second
	// pause is the time between the bytes of a slow response.
	pause = 500 * time.Millisecond
	// endless is the maximum size of an endless message.
	endless = 64 << 20
	// recordBytes is the maximum size of a record's data.
	recordBytes = 16 << 10
	// These are types of records (RFC 8446 section 5.1).
	alertRecord, handshakeRecord = 21, 22
)

// isBeforeTLS reports whether the fault prevents a handshake.
func isBeforeTLS(fault string) bool {
	switch fault {
	case "refuse", "silent", "reset", "garbage", "endless-certificate", "close-mid-handshake":
		return true
	}
	return false
}

// isOfECH reports whether the fault affects only clients that send the extension encrypted_client_hello.
func isOfECH(fault string) bool {
	switch fault {
	case "ech-alert", "ech-close", "ech-silent":
		return true
	}
	return false
}

// refuseECH applies a fault to a connection whose ClientHello has the extension. The result is an error, which ends the handshake.
func refuseECH(fault string, tcp *net.TCPConn) error {
	const (
		fatal            = 2
		illegalParameter = 47
	)
	switch fault {
	case "ech-silent":
		drain(tcp)
	case "ech-alert":
		if err := writeRecord(tcp, alertRecord, []byte{fatal, illegalParameter}); err != nil {
			return err
		}
		fallthrough
	case "ech-close":
		if err := hangUp(tcp); err != nil {
			return err
		}
	}
	return fmt.Errorf("a hello with Encrypted ClientHello: fault=%s", fault)
}

// commit applies a fault to a new connection.
func commit(fault string, tcp *net.TCPConn) error {
	defer tcp.Close()
	switch fault {
	case "silent":
		drain(tcp)
		return nil
	case "reset":
		// Directly after the accept, the reset would race with the client's connect.
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

// badHTTP answers inside TLS with bytes that are not HTTP in either version.
func badHTTP(conn halfCloser) error {
	defer conn.Close()
	readSome(conn)
	if _, err := conn.Write(bytes.Repeat([]byte("\x1b[31mnot a response\r\n\r\n"), 4)); err != nil {
		return err
	}
	return hangUp(conn)
}

// hangUp ends the stream and waits for the client to end it too. Unread data from the client would turn the end into a reset,
// which can overtake the data that were sent before.
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

// endlessCertificate sends a ServerHello of TLS 1.2, then records of a Certificate message (RFC 5246 section 7.4.2) whose length
// field is 2^24 - 1 bytes, and another such message, and so on.
func endlessCertificate(tcp *net.TCPConn) error {
	hello := append([]byte{0x03, 0x03}, bytes.Repeat([]byte{0x5a}, 32)...)
	// The ServerHello has no session, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, and renegotiation_info (RFC 5746).
	hello = append(hello, 0x00, 0xc0, 0x2f, 0x00, 0x00, 0x05, 0xff, 0x01, 0x00, 0x01, 0x00)
	message := append([]byte{0x02, 0x00, 0x00, byte(len(hello))}, hello...)
	if err := writeRecord(tcp, handshakeRecord, message); err != nil {
		return err
	}
	record := bytes.Repeat([]byte{0x30}, recordBytes)
	copy(record, []byte{0x0b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc, 0x00, 0xff, 0xff})
	for sent := 0; sent < endless; sent += len(record) {
		if err := writeRecord(tcp, handshakeRecord, record); err != nil {
			return err
		}
		copy(record, bytes.Repeat([]byte{0x30}, 10))
	}
	return nil
}

func writeRecord(tcp *net.TCPConn, kind byte, payload []byte) error {
	header := []byte{kind, 0x03, 0x03, byte(len(payload) >> 8), byte(len(payload))}
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
