package main

import (
	"crypto/tls"
	"errors"
	"iter"
	"net"
	"time"
)

// Sessions in memory, and the definition of a side's time.
//
// crypto/tls calls Read and Write of a connection, and Read blocks. Each side therefore runs in a coroutine (iter.Pull): when it
// wants to read and no data are available, its Read returns control to its caller, on the same thread and without the scheduler.
// Therefore only one side runs at a time, as with libraries that are called step by step, and a step is the work of a side from
// the moment that it is resumed until it needs more data than are available. Its time includes all work of crypto/tls in between,
// the copies to and from the other side's buffer, two switches of coroutines, and the cost of a separate goroutine: it begins
// with a small stack that has to grow, as does that of every connection of a Go program. The garbage collector runs as it does
// for Go's users: its assists within a step are in the step's time, and its work on other cores is not.

// mostFlights is the number of flights after which an unfinished handshake is considered endless.
const mostFlights = 10

// buffer holds the data that one side has written and the other has not read. It is kept from one session to the next.
type buffer struct {
	bytes []byte
	read  int
}

func (b *buffer) empty() bool { return b.read == len(b.bytes) }

func (b *buffer) clear() { b.bytes, b.read = b.bytes[:0], 0 }

// wires has the data in transit.
type wires struct {
	toServer, toClient buffer
	// The buffer into which a side reads its data.
	plaintext []byte
}

// side is one side of one session.
type side struct {
	conn     *tls.Conn
	in, out  *buffer
	to       []byte
	resume   func() (struct{}, bool)
	stop     func()
	yield    func(struct{}) bool
	done     bool
	received int
	err      error
}

var errStopped = errors.New("the session is no longer needed")

func newClient(both *sides, w *wires) *side {
	s := &side{in: &w.toClient, out: &w.toServer, to: w.plaintext}
	s.conn = tls.Client(s, both.client)
	s.resume, s.stop = iter.Pull(s.run)
	return s
}

func newServerSide(both *sides, w *wires) *side {
	s := &side{in: &w.toServer, out: &w.toClient, to: w.plaintext}
	s.conn = tls.Server(s, both.server)
	s.resume, s.stop = iter.Pull(s.run)
	return s
}

// run is the coroutine: the handshake, and then the reads of all data.
func (s *side) run(yield func(struct{}) bool) {
	s.yield = yield
	if s.err = s.conn.Handshake(); s.err != nil {
		return
	}
	s.done = true
	for s.err == nil {
		var n int
		n, s.err = s.conn.Read(s.to)
		s.received += n
	}
}

// step continues until the side needs more data than are available.
func (s *side) step() error {
	if _, alive := s.resume(); !alive {
		return s.err
	}
	return nil
}

// Read, Write and the other methods make the side the connection below TLS.
func (s *side) Read(to []byte) (int, error) {
	for s.in.empty() {
		if !s.yield(struct{}{}) {
			return 0, errStopped
		}
	}
	n := copy(to, s.in.bytes[s.in.read:])
	s.in.read += n
	if s.in.empty() {
		s.in.clear()
	}
	return n, nil
}

func (s *side) Write(from []byte) (int, error) {
	s.out.bytes = append(s.out.bytes, from...)
	return len(from), nil
}

func (s *side) Close() error                     { return nil }
func (s *side) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *side) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *side) SetDeadline(time.Time) error      { return nil }
func (s *side) SetReadDeadline(time.Time) error  { return nil }
func (s *side) SetWriteDeadline(time.Time) error { return nil }

// pair is two sides whose handshake is done.
type pair struct {
	client, server         *side
	clientTime, serverTime meter
}

func (p *pair) close() {
	for _, s := range []*side{p.client, p.server} {
		if s != nil {
			s.stop()
		}
	}
}

// newPair takes a new session through its handshake. The making of a side belongs to its first step, and the client's last step
// reads the server's tickets.
func (both *sides) newPair(w *wires, clocks string) (*pair, error) {
	p := &pair{}
	w.toServer.clear()
	w.toClient.clear()
	err := p.clientTime.time(clocks, func() error {
		p.client = newClient(both, w)
		return p.client.step()
	})
	for flight := 0; err == nil && flight < mostFlights; flight++ {
		if !w.toServer.empty() {
			err = p.serverTime.time(clocks, func() error {
				if p.server == nil {
					p.server = newServerSide(both, w)
				}
				return p.server.step()
			})
		}
		if err == nil && !w.toClient.empty() {
			err = p.clientTime.time(clocks, p.client.step)
		}
		if w.toServer.empty() && w.toClient.empty() {
			break
		}
	}
	if err == nil {
		err = p.finished()
	}
	if err != nil {
		p.close()
		return nil, &stepError{"handshake", err}
	}
	return p, nil
}

func (p *pair) finished() error {
	switch {
	case p.server == nil || !p.client.done || !p.server.done:
		return errors.New("the two sides wait for one another")
	case p.client.received+p.server.received > 0:
		return errors.New("data where none was sent")
	default:
		return nil
	}
}

// agreed makes the first handshake, and returns its negotiated parameters. Where later handshakes are to be resumed, it makes one
// of those as well, and returns the parameters of that.
func (both *sides) agreed(kind string) (*preparedAnswer, error) {
	w := newWires()
	p, err := both.newPair(w, "wall")
	if err == nil && kind != kindFull {
		p.close()
		p, err = both.newPair(w, "wall")
	}
	if err != nil {
		return nil, err
	}
	defer p.close()
	client, server := p.client.conn.ConnectionState(), p.server.conn.ConnectionState()
	ofClient, ofServer := agreedOn(&client), serverAgreedOn(&server)
	return &preparedAnswer{&ofClient, &ofServer}, nil
}

// handshakes makes one handshake after another.
func (both *sides) handshakes(t *turn) error {
	w := newWires()
	for t.goesOn() {
		p, err := both.newPair(w, t.request.Clocks)
		if err != nil {
			return err
		}
		client, server := p.resumed()
		t.sliced.Handshakes++
		t.sliced.ClientResumed += client
		t.sliced.ServerResumed += server
		t.sliced.Operations++
		t.record("client", p.clientTime)
		t.record("server", p.serverTime)
		p.close()
	}
	return nil
}

// resumed counts resumed handshakes, as reported by each side.
func (p *pair) resumed() (client, server uint32) {
	count := func(s *side) uint32 {
		if s.conn.ConnectionState().DidResume {
			return 1
		}
		return 0
	}
	return count(p.client), count(p.server)
}

func newWires() *wires { return &wires{plaintext: make([]byte, recordBytes)} }
