package wire

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// payload is the body of a request. A stream can last for minutes, and net/http keeps
// its request for as long, so the text is released as soon as no retry can need it.
type payload struct {
	mu   sync.Mutex
	text []byte
}

var errLetGo = errors.New("wire: the body was let go")

// set makes text the body of the next try.
func (p *payload) set(text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
}

// letGo releases the text, because there will be no retry. A try that is being sent
// keeps the text until then.
func (p *payload) letGo() {
	if p != nil {
		p.set(nil)
	}
}

// open returns a reader of the text.
func (p *payload) open() (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text == nil {
		return nil, errLetGo
	}
	return &sending{text: p.text}, nil
}

// attach makes the text the body of a request, which the transport may send again on
// another connection.
func (p *payload) attach(req *http.Request) error {
	body, err := p.open()
	if err != nil {
		return err
	}
	req.Body, req.GetBody, req.ContentLength = body, p.open, int64(len(p.text))
	return nil
}

// sending reads the text once. net/http may close it while it reads.
type sending struct {
	mu   sync.Mutex
	text []byte
}

// Read reads the next bytes.
func (s *sending) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.text) == 0 {
		s.text = nil
		return 0, io.EOF
	}
	n := copy(b, s.text)
	s.text = s.text[n:]
	return n, nil
}

// Close releases the unread text.
func (s *sending) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = nil
	return nil
}
