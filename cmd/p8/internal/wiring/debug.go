package wiring

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/openai"
)

// shown is a model that sends nothing over a network, whose requests --debug
// shows as an OpenAI-compatible one would get them.
func shown(m llm.Model, debug func([]byte)) (llm.Model, error) {
	if debug == nil {
		return m, nil
	}
	wire, err := openai.New(openai.Options{
		Provider: "offline", Model: "search", BaseURL: "http://offline.invalid/v1",
		HTTPClient: &http.Client{Transport: nowhere{}}, MaxRetries: -1, Debug: debug,
	})
	return shownModel{m, wire}, err
}

type shownModel struct {
	llm.Model
	wire *openai.Model
}

// Stream writes the request, sends it nowhere, and answers as the model does.
func (m shownModel) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	for range m.wire.Stream(ctx, req) {
		break
	}
	return m.Model.Stream(ctx, req)
}

// nowhere is a network that takes nothing.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("offline")
}
