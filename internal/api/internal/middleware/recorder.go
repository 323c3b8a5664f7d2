package middleware

import (
	"net/http"
	"time"
)

// recorder notes status and size of a response. It bounds the time that the client may
// take to read the response, from the first byte on: until then the run may take its
// time.
type recorder struct {
	http.ResponseWriter
	timeout time.Duration
	status  int
	bytes   int64

	// meter counts the response; it may be nil. streams: the response is an open stream of protocol.
	meter          Meter
	path           string
	code, protocol string
	streams        bool
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.opened()
		w.deadline(time.Now().Add(w.timeout))
	}
	w.ResponseWriter.WriteHeader(status)
}

// deadline sets the deadline for writes of the connection. It fails only on a connection
// that has no deadlines.
func (w *recorder) deadline(t time.Time) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(t)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
