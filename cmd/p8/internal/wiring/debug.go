package wiring

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/openai"
)

// withDebug passes each request to debug as the JSON that an OpenAI-compatible model would
// get, before m answers it. That needs no network.
func withDebug(m llm.Model, debug func([]byte)) (llm.Model, error) {
	if debug == nil {
		return m, nil
	}
	wire, err := openai.New(openai.Options{
		Provider: "offline", Model: "search", BaseURL: "http://offline.invalid/v1",
		HTTPClient: &http.Client{Transport: nowhere{}}, MaxRetries: -1, Debug: debug,
	})
	return debugModel{m, wire}, err
}

type debugModel struct {
	llm.Model
	wire *openai.Model
}

// Stream passes the request to debug and streams the answer of the model.
func (m debugModel) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	for range m.wire.Stream(ctx, req) {
		break
	}
	return m.Model.Stream(ctx, req)
}

// nowhere is a transport whose requests fail.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("offline")
}
