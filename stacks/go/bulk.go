package main

import "fmt"

// Writes of under 64 KiB are timed in bursts of that size: burst_bytes in netbench/tls/src/suite/measure.rs.
const burst = 64 << 10

// bulk is data from a server to a client, in bursts of whole writes.
type bulk struct {
	both   *sides
	wires  *wires
	pair   *pair
	write  []byte
	writes int
	amount int64
	moved  int64
}

func newBulk(both *sides, writeBytes int, amount int64) (*scenario, error) {
	b := &bulk{both: both, wires: newWires(), amount: amount}
	if writeBytes < 1 {
		return nil, fmt.Errorf("a write of %d bytes", writeBytes)
	}
	b.write = make([]byte, writeBytes)
	for i := range b.write {
		b.write[i] = byte(i % 251)
	}
	b.writes = (burst + writeBytes - 1) / writeBytes
	if err := b.renew(); err != nil {
		return nil, err
	}
	return &scenario{slice: b.slice, end: func() { b.pair.close() }}, nil
}

// renew makes another session. The previous one is kept where none can be made.
func (b *bulk) renew() error {
	made, err := b.both.newPair(b.wires, "wall")
	if err != nil {
		return err
	}
	if b.pair != nil {
		b.pair.close()
	}
	b.pair, b.moved = made, 0
	return nil
}

func (b *bulk) slice(t *turn) error {
	for t.goesOn() {
		if b.moved >= b.amount {
			if err := b.renew(); err != nil {
				return err
			}
		}
		var sent, received meter
		if err := b.burst(t.request.Clocks, &sent, &received); err != nil {
			return err
		}
		t.sliced.Operations++
		t.record("sent", sent)
		t.record("received", received)
	}
	return nil
}

// burst makes the server write, and then the client read all of the data.
func (b *bulk) burst(clocks string, sent, received *meter) error {
	client, server := b.pair.client, b.pair.server
	err := sent.time(clocks, func() error {
		for range b.writes {
			if _, err := server.conn.Write(b.write); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return &stepError{"send", err}
	}
	client.received = 0
	if err := received.time(clocks, client.step); err != nil {
		return &stepError{"receive", err}
	}
	if due := b.writes * len(b.write); client.received != due {
		return &stepError{"bulk", fmt.Errorf("%d bytes arrived of %d", client.received, due)}
	}
	b.moved += int64(client.received)
	return nil
}
