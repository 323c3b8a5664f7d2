package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// provider is an OpenAI-like server whose models are named after what they do:
// openai:hello says hello, openai:slow never ends, openai:status-401 refuses.
type provider struct {
	*httptest.Server
	mu     sync.Mutex
	bodies [][]byte
}

func newProvider(t testing.TB) *provider {
	p := &provider{}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// requests are the bodies that came, in order.
func (p *provider) requests() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bodies
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.bodies = append(p.bodies, body)
	p.mu.Unlock()
	var req struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	last := req.Messages[len(req.Messages)-1]
	var status int
	if n, _ := fmt.Sscanf(req.Model, "status-%d", &status); n == 1 {
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":{"message":"the provider's own words, sk-secret"}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := chunked{w}
	switch {
	case req.Model == "echo":
		s.text("You said: " + last.Content)
	case req.Model == "count":
		s.text(fmt.Sprintf("%d messages", len(req.Messages)))
	case req.Model == "slow":
		s.text("The beginning")
		<-r.Context().Done()
		return
	case req.Model == "drip":
		for s.text("The beginning"); r.Context().Err() == nil; {
			s.text(" and on")
		}
		return
	case req.Model == "cut":
		s.text("The beginning")
		return
	case req.Model == "garbage":
		fmt.Fprint(w, "data: {not JSON\n\n")
		return
	case req.Model == "long":
		s.text("A long story")
		s.finish("length")
		return
	case req.Model == "empty":
	case req.Model == "bell":
		s.text("ding\x1b[2J\x07 dong")
	case req.Model == "search" && last.Role != "tool":
		s.call("call_1", "search", `{"query":"LOOKUP sessions"}`)
		s.finish("tool_calls")
		return
	case req.Model == "search":
		s.text("It is in ")
		s.text("`sessions`.")
	case req.Model == "json":
		s.text(`{"urgency":"high","summary":"It burns"}`)
	case req.Model == "dreams" && strings.Contains(req.Messages[0].Content, "You look back on what a person did"):
		s.text(`{"dream_moments":[{"name":"late-trains","summary":"Trains are late in winter.","topic_tags":["trains"],"emotion_tags":[],`)
		s.text(`"affinity_fragments":[{"target":"standup","relation":"builds_on","weight":0.8,"reason":"the same week"}]}],"search_questions":[],"cross_session_themes":[]}`)
	case req.Model == "dreams" && strings.Contains(req.Messages[0].Content, "You keep the profile of a person"):
		s.text(`{"content":"They ask about trains.","interests":["trains"],"preferred_topics":[]}`)
	case req.Model == "plan":
		s.text(`{"query_type":"LOOKUP","query":"LOOKUP ada-park","confidence":1}`)
	case req.Model == "invoices":
		s.text(`{"moments":[{"invoice_number":"INV-7","vendor":"Acme","total":120.5},{"name":"INV 8","summary":"Two chairs"}]}`)
	default:
		s.text("Hello!")
	}
	s.finish("stop")
}

// chunked writes the chunks of an answer.
type chunked struct{ w http.ResponseWriter }

func (s chunked) chunk(delta string, finish string) {
	fmt.Fprintf(s.w, `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
	s.w.(http.Flusher).Flush()
}

func (s chunked) text(text string) {
	b, _ := json.Marshal(text)
	s.chunk(`{"content":`+string(b)+`}`, "null")
}

func (s chunked) call(id, name, arguments string) {
	b, _ := json.Marshal(arguments)
	s.chunk(strings.NewReplacer("ID", id, "NAME", name, "ARGS", string(b)).Replace(
		`{"tool_calls":[{"index":0,"id":"ID","type":"function","function":{"name":"NAME","arguments":ARGS}}]}`), "null")
}

func (s chunked) finish(reason string) {
	s.chunk(`{}`, `"`+reason+`"`)
	fmt.Fprint(s.w, "data: [DONE]\n\n")
}
