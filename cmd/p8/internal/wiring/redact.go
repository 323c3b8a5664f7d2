package wiring

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/embed/offline"
	"github.com/p8-org/p8/internal/redact"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool/mcp"
)

// redactModels makes the models of the providers hide what r finds; nil hides nothing.
func redactModels(providers map[string]llm.Constructor, r *redact.Redactor) {
	if r == nil {
		return
	}
	for provider, construct := range providers {
		providers[provider] = func(name string) (llm.Model, error) {
			m, err := construct(name)
			if err != nil {
				return nil, err
			}
			return redactedModel{m, r}, nil
		}
	}
}

// redactedModel hides values from a model, and puts them back into its answer. The numbers of the
// placeholders count through the messages of a request, so they stay the same while a run adds
// messages.
type redactedModel struct {
	llm.Model
	by *redact.Redactor
}

// aboutPlaceholders tells a model what to do with placeholders.
const aboutPlaceholders = "Texts such as [email-1] are placeholders of values that you do not see. Write them unchanged wherever you would write the value, also in tool calls."

// Endpoint is that of the model, its provider if it has none.
func (m redactedModel) Endpoint() string {
	if e, ok := m.Model.(interface{ Endpoint() string }); ok {
		return e.Endpoint()
	}
	provider, _, _ := strings.Cut(m.Name(), ":")
	return provider
}

// Stream runs one request without the values.
func (m redactedModel) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	values := m.by.Values()
	own := *req
	own.Messages = make([]llm.Message, len(req.Messages), len(req.Messages)+1)
	for i := range req.Messages {
		own.Messages[i] = hideMessage(values, req.Messages[i])
	}
	own.Settings.SafetyID = m.by.Text(req.Settings.SafetyID)
	if !values.Hidden() {
		return m.Model.Stream(ctx, &own)
	}
	if len(own.Messages) > 0 && own.Messages[0].Role == llm.System {
		own.Messages[0].Content += "\n\n" + aboutPlaceholders
	} else {
		own.Messages = slices.Insert(own.Messages, 0, llm.Message{Role: llm.System, Content: aboutPlaceholders})
	}
	return shown(values, own.Output != nil, m.Model.Stream(ctx, &own))
}

func hideMessage(values *redact.Values, m llm.Message) llm.Message {
	m.Content = values.Hide(m.Content)
	m.ToolCalls = slices.Clone(m.ToolCalls)
	for i := range m.ToolCalls {
		m.ToolCalls[i].Arguments = values.HideJSON(m.ToolCalls[i].Arguments)
	}
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		m.Parts[i].Name = values.Hide(m.Parts[i].Name)
	}
	return m
}

// lane is one of the texts that the chunks of a response make up: the answer, the reasoning, or
// the arguments of a call.
type lane struct {
	kind llm.ChunkKind
	call int
}

// shown puts values back into a response. A placeholder may be split over chunks; its beginning is
// held back until the lane goes on, or the response ends.
func shown(values *redact.Values, isJSON bool, chunks iter.Seq2[llm.Chunk, error]) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		streams, order := map[lane]*redact.Stream{}, []lane(nil)
		flush := func() bool {
			for _, l := range order {
				if rest := streams[l].End(); rest != "" && !yield(llm.Chunk{Kind: l.kind, Call: l.call, Text: rest}, nil) {
					return false
				}
			}
			return true
		}
		for c, err := range chunks {
			switch {
			case err != nil, c.Kind == llm.ChunkFinish:
				if !flush() {
					return
				}
			case c.Kind == llm.ChunkText, c.Kind == llm.ChunkReasoning, c.Kind == llm.ChunkToolCall:
				l := lane{kind: c.Kind}
				if c.Kind == llm.ChunkToolCall {
					l.call = c.Call
				}
				s := streams[l]
				if s == nil {
					s = values.Stream(c.Kind == llm.ChunkToolCall || c.Kind == llm.ChunkText && isJSON)
					streams[l], order = s, append(order, l)
				}
				given := c.Text
				if c.Text = s.Add(c.Text); c.Text == "" && given != "" && c.ID == "" && c.Name == "" {
					continue
				}
			}
			if !yield(c, err) {
				return
			}
		}
		flush()
	}
}

// redactTexts makes an embedding model of a provider hide what r finds; nil hides nothing. A
// question and a text with the same value stay similar.
func redactTexts(m embed.Model, r *redact.Redactor) embed.Model {
	if _, here := m.(*offline.Model); m == nil || here || r == nil {
		return m
	}
	return redactedEmbedder{m, r}
}

type redactedEmbedder struct {
	embed.Model
	by *redact.Redactor
}

// Embed returns the vectors of texts without their values.
func (m redactedEmbedder) Embed(ctx context.Context, texts []string) []embed.Result {
	own := make([]string, len(texts))
	for i, text := range texts {
		own[i] = m.by.Text(text)
	}
	return m.Model.Embed(ctx, own)
}

// EmbedQuery returns the vector of a question without its values.
func (m redactedEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return m.Model.EmbedQuery(ctx, m.by.Text(text))
}

// Shortens is that of the model.
func (m redactedEmbedder) Shortens() bool {
	s, ok := m.Model.(interface{ Shortens() bool })
	return ok && s.Shortens()
}

// redactCalls returns what hides the secrets of one call to an MCP server, nil for nothing.
func redactCalls(r *redact.Redactor) func() mcp.Redaction {
	if r == nil {
		return nil
	}
	return func() mcp.Redaction { return r.Values() }
}
