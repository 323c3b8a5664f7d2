package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"p8/llm"
)

// attempt sends the request once and hands out what comes back.
func (m *Model) attempt(parent context.Context, body []byte, out *sink) *failure {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	timer := time.AfterFunc(m.idle, func() { cancel(errSilent) })
	defer timer.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return m.garbage(err, false)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("User-Agent", "p8")
	m.authorize(req.Header)
	res, err := m.client.Do(req)
	if err != nil {
		return m.broken(ctx, err)
	}
	defer res.Body.Close()
	in := quiet{res.Body, timer, m.idle}
	if res.StatusCode/100 != 2 {
		words, _ := io.ReadAll(io.LimitReader(in, 64<<10))
		return m.refused(res.StatusCode, readRefusal(words), retryAfter(res.Header))
	}

	r := m.readers.Get().(*reader)
	defer m.release(r)
	r.reset(in, out)
	if f := m.read(ctx, r); f != nil {
		// What the provider has counted so far is charged even so.
		if r.usage != (llm.Usage{}) && out.sent {
			out.send(llm.Chunk{Kind: llm.ChunkUsage, Usage: r.usage})
		}
		return f
	}
	if out.stopped {
		return nil
	}
	r.end()
	drain(in, cancel)
	return nil
}

// drain reads what is left after [DONE], so that the connection can be used
// again; but not for long.
func drain(body io.Reader, cancel context.CancelCauseFunc) {
	timer := time.AfterFunc(250*time.Millisecond, func() { cancel(nil) })
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, 64<<10)
}

func (m *Model) release(r *reader) {
	if cap(r.events.buf)+cap(r.events.data)+cap(r.texts.scratch) > 256<<10 {
		return
	}
	r.reset(nil, nil)
	m.readers.Put(r)
}

// read reads a whole response, whatever its form.
func (m *Model) read(ctx context.Context, r *reader) *failure {
	next := r.events.next
	switch c, err := r.events.first(); {
	case err == io.EOF:
		return m.cut()
	case err != nil:
		return m.unread(ctx, r, err)
	case c == '{' || c == '[':
		// No stream: one JSON answer, or several, one a line.
		values := json.NewDecoder(r.events.rest())
		next = func() ([]byte, error) {
			var v json.RawMessage
			err := values.Decode(&v)
			return v, err
		}
	}
	for {
		data, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return m.unread(ctx, r, err)
		}
		if isDone(data) {
			r.done = true
			break
		}
		if f := m.consume(r, data); f != nil {
			return f
		}
		if r.out.stopped {
			return nil
		}
	}
	switch {
	case r.finish != "":
	case !r.events.seen && !r.any:
		return m.garbage(nil, false)
	case !r.done:
		return m.cut()
	case !r.any:
		return m.garbage(errors.New("openai: an empty answer"), true)
	}
	for _, c := range r.calls {
		if c.name == "" {
			return m.garbage(errors.New("openai: a tool call without a name"), true)
		}
	}
	return nil
}

// unread sorts the ways in which reading can fail.
func (m *Model) unread(ctx context.Context, r *reader, err error) *failure {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, errTooLong) || errors.As(err, &syntax):
		return m.garbage(err, r.any)
	case errors.Is(err, io.ErrUnexpectedEOF) && ctx.Err() == nil:
		return m.cut()
	}
	return m.broken(ctx, err)
}

// consume handles one chunk of the wire.
func (m *Model) consume(r *reader, data []byte) *failure {
	if text, reasoning, ok := scanDelta(data, &r.texts); ok {
		r.say(text, reasoning)
		return nil
	}
	var c wireChunk
	if err := json.Unmarshal(data, &c); err != nil {
		if r.events.torn {
			return m.cut()
		}
		return m.garbage(err, r.any)
	}
	if c.failed() {
		return m.refused(0, readRefusal(data), 0)
	}
	r.chunk(&c)
	return nil
}

// reader puts one response together.
type reader struct {
	events events
	texts  texts
	out    *sink
	calls  []call
	finish llm.Finish
	usage  llm.Usage
	done   bool // [DONE] was there
	any    bool // a chunk was there
}

func (r *reader) reset(in io.Reader, out *sink) {
	r.events.reset(in)
	clear(r.calls)
	*r = reader{events: r.events, texts: texts{scratch: r.texts.scratch[:0]}, out: out, calls: r.calls[:0]}
}

// say hands out a piece of text.
func (r *reader) say(text, reasoning string) {
	r.any = true
	if reasoning != "" {
		r.out.send(llm.Chunk{Kind: llm.ChunkReasoning, Text: reasoning})
	}
	if text != "" {
		r.out.send(llm.Chunk{Kind: llm.ChunkText, Text: text})
	}
}

// end hands out what comes last.
func (r *reader) end() {
	if r.usage != (llm.Usage{}) {
		r.out.send(llm.Chunk{Kind: llm.ChunkUsage, Usage: r.usage})
	}
	finish := r.finish
	// Servers disagree with themselves about this one; the calls decide.
	switch {
	case len(r.calls) > 0 && (finish == llm.FinishStop || finish == ""):
		finish = llm.FinishToolCalls
	case len(r.calls) == 0 && (finish == llm.FinishToolCalls || finish == ""):
		finish = llm.FinishStop
	}
	r.out.send(llm.Chunk{Kind: llm.ChunkFinish, Finish: finish})
}
