package strictapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Server is OpenAI (both of its APIs), Anthropic and Gemini, by the path of a request. It
// refuses a request with a schema that the provider refuses, and gives the same answer to
// all others.
type Server struct {
	// Answer is the text of every answer, or the arguments of final_result if the request
	// has this tool.
	Answer string
	// Older: Gemini knows only the older form of schemas.
	Older bool

	mu      sync.Mutex
	refused []string
	taken   int
}

// Seen returns the number of requests that were answered, and why the others were
// refused.
func (s *Server) Seen() (taken int, refused []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken, s.refused
}

// request is the part of a request that has schemas, of every wire.
type request struct {
	Tools []struct {
		Name        string          `json:"name"`
		Parameters  json.RawMessage `json:"parameters"`   // Responses
		InputSchema json.RawMessage `json:"input_schema"` // Anthropic
		Function    struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
		Declarations []struct {
			Name       string          `json:"name"`
			JSONSchema json.RawMessage `json:"parametersJsonSchema"`
			OpenAPI    json.RawMessage `json:"parameters"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	ResponseFormat struct {
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Text struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
	Config struct {
		JSONSchema json.RawMessage `json:"responseJsonSchema"`
		OpenAPI    json.RawMessage `json:"responseSchema"`
	} `json:"generationConfig"`
}

// judge returns why the schemas of a request are refused.
func (s *Server) judge(path string, r *request) (err error) {
	check := func(where string, schema json.RawMessage, by func([]byte) error) {
		if err == nil && len(schema) > 0 {
			if e := by(schema); e != nil {
				err = fmt.Errorf("invalid schema for %s: %w", where, e)
			}
		}
	}
	newer := Gemini
	if s.Older {
		newer = func([]byte) error { return fmt.Errorf(`unknown name "json_schema": cannot find field`) }
	}
	for i, t := range r.Tools {
		where := fmt.Sprintf("tools[%d]", i)
		switch {
		case strings.HasSuffix(path, "/messages"):
			check(where, t.InputSchema, Anthropic)
		default:
			check(where, t.Parameters, OpenAI)
			check(where, t.Function.Parameters, OpenAI)
		}
		for _, d := range t.Declarations {
			check("function_declarations["+d.Name+"]", d.JSONSchema, newer)
			check("function_declarations["+d.Name+"]", d.OpenAPI, GeminiOpenAPI)
		}
	}
	check("response_format", r.ResponseFormat.JSONSchema.Schema, OpenAI)
	check("text.format", r.Text.Format.Schema, OpenAI)
	check("response_json_schema", r.Config.JSONSchema, newer)
	check("response_schema", r.Config.OpenAPI, GeminiOpenAPI)
	return err
}

// ServeHTTP answers or refuses one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var req request
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err == nil {
		err = s.judge(r.URL.Path, &req)
	}
	s.mu.Lock()
	if err != nil {
		s.refused = append(s.refused, r.URL.Path+": "+err.Error())
	} else {
		s.taken++
	}
	s.mu.Unlock()
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"type":"error","error":{"code":400,"type":"invalid_request_error","status":"INVALID_ARGUMENT","message":%s}}`, quoted(err.Error()))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, s.answer(r.URL.Path, &req))
}

// answer returns the events of the answer.
func (s *Server) answer(path string, r *request) string {
	text := quoted(s.Answer)
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":` + text + `},"finish_reason":null}]}` + "\n\n" +
			`data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	case strings.HasSuffix(path, "/responses"):
		return `data: {"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":` + text + "}\n\n" +
			`data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}` + "\n\n"
	case strings.HasSuffix(path, "/messages"):
		block, delta, reason := `{"type":"text","text":""}`, `{"type":"text_delta","text":`+text+`}`, "end_turn"
		for _, t := range r.Tools {
			if t.Name == "final_result" {
				block, delta, reason = `{"type":"tool_use","id":"t","name":"final_result","input":{}}`, `{"type":"input_json_delta","partial_json":`+text+`}`, "tool_use"
			}
		}
		return `data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}` + "\n\n" +
			`data: {"type":"content_block_start","index":0,"content_block":` + block + "}\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":` + delta + "}\n\n" +
			`data: {"type":"content_block_stop","index":0}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":1}}` + "\n\n" +
			`data: {"type":"message_stop"}` + "\n\n"
	}
	return `data: {"candidates":[{"content":{"parts":[{"text":` + text + `}],"role":"model"},"finishReason":"STOP","index":0}]}` + "\n\n"
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
