package main

import (
	"crypto/tls"
	"errors"
	"iter"
	"net"
	"time"
)

// Sessions in memory, and what is in a side's time.
//
// crypto/tls calls Read and Write of a connection, and Read blocks. Each side therefore runs in a coroutine (iter.Pull): when it wants to
// read and nothing is there, its Read gives control back to whoever resumed it, on the same thread and without the scheduler. So only
// one side runs at a time, as with libraries that are asked step by step, and a step is what a side does from the moment that it is
// resumed until it wants more than there is. In its time is all that crypto/tls does in between, the copies to and from the other side's
// buffer, two switches of coroutines, and what a goroutine of its own costs: it begins with a small stack that has to grow, as that of
// every connection of a Go program does. The collector runs as it does for Go's users: what its assistance takes from a step is in the
// step, and what it does on other cores is not.

// Flights after which a handshake that is not done is going in circles.
const mostFlights = 10

// buffer holds what one side has written and the other has not read. It is kept from one session to the next.
type buffer struct {
	bytes []byte
	read  int
}

func (b *buffer) empty() bool { return b.read == len(b.bytes) }

func (b *buffer) clear() { b.bytes, b.read = b.bytes[:0], 0 }

// wires is what is on its way.
type wires struct {
	toServer, toClient buffer
	// What a side reads its data into.
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

// run is the coroutine: the handshake, and then whatever comes.
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

// step goes on until the side wants more than there is.
func (s *side) step() error {
	if _, alive := s.resume(); !alive {
		return s.err
	}
	return nil
}

// Read, Write and the rest make the side the connection below TLS.
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

// newPair takes a new session through its handshake. The making of a side belongs to its first step, and the client's last step reads
// the server's tickets.
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

// agreed makes the first handshake, and says what was agreed in it. Where later ones are to be resumed, one of those is made as well, and
// what it agreed is given.
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

// handshakes makes one after another.
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

// resumed counts, as each side saw it.
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
