package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// load is so many clients of one server, each with a connection of its own and
// one stream of server-sent events.
type load struct {
	addr    string
	streams int
	// over is the time in which they come, one after the other at even distances;
	// 0 is all at once.
	over time.Duration
	// end stands at the end of every whole stream.
	end string
	// want counts in every whole stream.
	want int
}

// seen is what one client saw.
type seen struct {
	opened time.Duration // until the first byte of the response
	first  time.Duration // until the first text of the model
	gap    time.Duration // the longest silence between two texts
	events int           // frames
	texts  int           // that hold text of the model
	err    error         // why the stream is not whole
}

// asked is what every client sends: p8, the proxy and the bare handler get the
// same.
const asked = `{"model":"bench","stream":true,"messages":[{"role":"user","content":"What is the weather like?"}]}`

// mark begins every piece of text in the models' answers.
const mark = "piece "

// run opens all streams, reads them to their ends, and says how long it took.
func (l load) run(tb testing.TB) ([]seen, time.Duration) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	list := make([]seen, l.streams)
	var all sync.WaitGroup
	started := time.Now()
	for i := range list {
		all.Go(func() {
			at := started.Add(l.over * time.Duration(i) / time.Duration(l.streams))
			time.Sleep(time.Until(at))
			list[i] = l.client(ctx)
		})
	}
	all.Wait()
	return list, time.Since(started)
}

// client reads one stream. It looks at the bytes as they come and decodes nothing,
// so that it takes little from the server beside it.
func (l load) client(ctx context.Context) (s seen) {
	c, err := connect(ctx, l.addr)
	if err != nil {
		return seen{err: err}
	}
	defer c.Close()
	began := time.Now()
	if err := request(c); err != nil {
		return seen{err: err}
	}
	var last time.Time
	ended := false
	buf, tail := make([]byte, 4<<10), 0
	for {
		n, err := c.Read(buf[tail:])
		now := time.Now()
		got := buf[:tail+n]
		if s.opened == 0 && n > 0 {
			if s.opened = now.Sub(began); !bytes.HasPrefix(got, []byte("HTTP/1.1 200")) {
				s.err = fmt.Errorf("%.80q", got)
				return s
			}
		}
		// Only whole lines count; what is left of one is looked at with the rest of it.
		whole := bytes.LastIndexByte(got, '\n') + 1
		s.events += bytes.Count(got[:whole], []byte("data: "))
		texts := bytes.Count(got[:whole], []byte(mark))
		if s.texts += texts; s.first == 0 && texts > 0 {
			s.first = now.Sub(began)
		} else if texts > 0 {
			s.gap = max(s.gap, now.Sub(last))
		}
		if texts > 0 {
			last = now
		}
		ended = ended || bytes.Contains(got[:whole], []byte(l.end))
		switch {
		case err == io.EOF && ended:
			if s.texts != l.want {
				s.err = fmt.Errorf("%d texts, want %d", s.texts, l.want)
			}
			return s
		case err != nil:
			s.err = errors.Join(errors.New("cut"), err)
			return s
		}
		if tail = copy(buf, got[whole:]); tail == len(buf) {
			s.err = errors.New("a line is too long")
			return s
		}
	}
}

func connect(ctx context.Context, addr string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	return c, c.SetDeadline(deadline)
}

// request sends what is asked.
func request(c net.Conn) error {
	_, err := fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len(asked), asked)
	return err
}

// figures are those of many clients.
type figures struct {
	list []seen
	took time.Duration
}

// at is the time below which the share of clients is.
func (f figures) at(share float64, of func(seen) time.Duration) time.Duration {
	var all []time.Duration
	for _, s := range f.list {
		if s.err == nil {
			all = append(all, of(s))
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(share*float64(len(all))))]
}

func (f figures) incomplete() (n int, why error) {
	for _, s := range f.list {
		if s.err != nil {
			n, why = n+1, s.err
		}
	}
	return n, why
}

// rate is frames a second.
func (f figures) rate() float64 {
	n := 0
	for _, s := range f.list {
		n += s.events
	}
	return float64(n) / f.took.Seconds()
}

func firstByte(s seen) time.Duration  { return s.opened }
func firstText(s seen) time.Duration  { return s.first }
func longestGap(s seen) time.Duration { return s.gap }

// log tells what a reader of the benchmark wants to see of one server.
func (f figures) log(tb testing.TB, name string) {
	n, why := f.incomplete()
	ms := func(share float64, of func(seen) time.Duration) string {
		return fmt.Sprintf("%.1f", float64(f.at(share, of).Microseconds())/1000)
	}
	tb.Logf("%-12s first byte p50 %s p99 %s · first text p50 %s p99 %s · longest gap p50 %s p99 %s ms · %.0f events/s · %d of %d incomplete %v",
		name, ms(.5, firstByte), ms(.99, firstByte), ms(.5, firstText), ms(.99, firstText), ms(.5, longestGap), ms(.99, longestGap), f.rate(), n, len(f.list), orNothing(why))
}

func orNothing(err error) any {
	if err == nil {
		return ""
	}
	return err
}

// bare is a handler that does nothing but stream: OpenAI's wire, each chunk written
// and flushed, one every so often.
func bare(chunks int, every time.Duration) http.Handler {
	frames := bytes.SplitAfter(answer(chunks), []byte("\n\n"))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		out := http.NewResponseController(w)
		for i, frame := range frames {
			if i > 1 && every > 0 {
				select {
				case <-time.After(every):
				case <-r.Context().Done():
					return
				}
			}
			if _, err := w.Write(frame); err != nil || out.Flush() != nil {
				return
			}
		}
	})
}

// serve is a server on loopback, closed at the end; it gives the address.
func serve(tb testing.TB, h http.Handler) string {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	tb.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return l.Addr().String()
}

// get reads a whole response and counts the frames in it.
func get(tb testing.TB, client *http.Client, url string) int {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		tb.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	lines, n := bufio.NewScanner(res.Body), 0
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data: ") {
			n++
		}
	}
	if err := lines.Err(); err != nil || res.StatusCode != http.StatusOK {
		tb.Fatal(res.Status, err)
	}
	return n
}
