package load_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"time"
)

// client is one stream of one turn, on a connection of its own.
type client struct {
	status string
	// first is the time until the first text, took until the stream was over.
	first, took time.Duration
	bytes       int64
	// limit is the limit that the end names; ended says that the stream came to its own
	// end.
	limit string
	ended bool
	err   error
}

// stream asks for a turn and reads it to its end, or until the deadline.
func stream(addr, text string, deadline time.Time) (c client) {
	began := time.Now()
	conn, err := net.DialTimeout("tcp", addr, time.Until(deadline))
	if err != nil {
		return client{err: err}
	}
	defer conn.Close()
	_ = conn.SetDeadline(deadline)
	body := fmt.Sprintf(`{"model":"general","stream":true,"messages":[{"role":"user","content":%q}]}`, text)
	if _, err := fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nX-Event-Format: named\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body); err != nil {
		return client{err: err}
	}
	buf := make([]byte, 2<<10)
	var tail []byte
	for {
		n, err := conn.Read(buf)
		if c.bytes == 0 && n > 0 {
			line, _, _ := bytes.Cut(buf[:n], []byte("\r\n"))
			c.status = string(line)
		}
		c.bytes += int64(n)
		if c.first == 0 && bytes.Contains(buf[:n], []byte(`"content":"`)) {
			c.first = time.Since(began)
		}
		tail = append(tail, buf[:n]...)
		if len(tail) > 1<<10 {
			tail = append(tail[:0], tail[len(tail)-(1<<10):]...)
		}
		if err == nil {
			continue
		}
		c.took = time.Since(began)
		c.ended = err == io.EOF && bytes.Contains(tail, []byte("data: [DONE]"))
		if _, after, ok := bytes.Cut(tail, []byte(`"limit":"`)); ok {
			name, _, _ := bytes.Cut(after, []byte(`"`))
			c.limit = string(name)
		}
		if err != io.EOF {
			c.err = err
		}
		return c
	}
}
