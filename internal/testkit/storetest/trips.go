package storetest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Trips counts the round trips to a PostgreSQL server: the messages with which the server
// is ready for the next query (ReadyForQuery). Statements that are sent together are one
// trip.
type Trips struct {
	// URL is that of the database by way of the counter.
	URL   string
	ready atomic.Int64
}

// CountTrips starts a counter before the server of a database URL, until the test ends.
func CountTrips(t testing.TB, database string) *Trips {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal("the database URL is none")
	}
	server := u.Host
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u.Host = l.Addr().String()
	q := u.Query()
	q.Set("sslmode", "disable") // what is counted must be readable
	u.RawQuery = q.Encode()
	c := &Trips{URL: u.String()}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { c.serve(client, server) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		open.Wait()
	})
	return c
}

// Of returns the round trips of fn. New connections count, too: call fn once before.
func (c *Trips) Of(fn func()) int {
	before := c.ready.Load()
	fn()
	return int(c.ready.Load() - before)
}

// serve carries one connection until either side closes it.
func (c *Trips) serve(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	var up sync.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(server, client)
		server.Close()
	})
	_ = c.answers(client, server)
	client.Close()
	up.Wait()
}

// answers copies the server's messages: a letter, four bytes of length with themselves, and
// the rest.
func (c *Trips) answers(to io.Writer, from io.Reader) error {
	r, w := bufio.NewReaderSize(from, 1<<16), bufio.NewWriterSize(to, 1<<16)
	head := make([]byte, 5)
	for {
		if r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
		if _, err := io.ReadFull(r, head); err != nil {
			return errors.Join(err, w.Flush())
		}
		if head[0] == 'Z' {
			c.ready.Add(1)
		}
		if _, err := w.Write(head); err != nil {
			return err
		}
		if _, err := io.CopyN(w, r, int64(binary.BigEndian.Uint32(head[1:]))-4); err != nil {
			return err
		}
	}
}
