package wiring

import (
	"context"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/redact"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
)

func personal(t *testing.T) *redact.Redactor {
	t.Helper()
	r, err := redact.New(redact.Options{Patterns: []string{"personal", "private-key"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func redactedBy(t *testing.T, m llm.Model) llm.Model {
	t.Helper()
	providers := map[string]llm.Constructor{"test": func(string) (llm.Model, error) { return m, nil }}
	redactModels(providers, personal(t))
	model, err := providers["test"]("")
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func TestModelGetsPlaceholdersAndUserGetsValues(t *testing.T) {
	const key = "-----BEGIN" + " PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----"
	model := scripted.New(scripted.Turn{
		Reasoning: []string{"ask [ema", "il-2]"},
		Text:      []string{"I wrote to [ema", "il-1", "], not to [email-9] or ["},
		Chunks: []llm.Chunk{
			{Kind: llm.ChunkToolCall, Call: 0, ID: "a", Name: "send", Text: ""}, {Kind: llm.ChunkToolCall, Call: 1, ID: "b", Name: "send", Text: `{"to":"[em`},
			{Kind: llm.ChunkToolCall, Call: 0, Text: `{"key":"[private-key`}, {Kind: llm.ChunkToolCall, Call: 1, Text: `ail-1]"}`}, {Kind: llm.ChunkToolCall, Call: 0, Text: `-1]"}`},
		},
	})
	req := &llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Content: "Help sarah@example.com."},
			{Role: llm.User, Content: "Write to ole@example.com with " + key, Parts: []llm.Part{{Name: "ole@example.com.pdf"}}},
			{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{Arguments: `{"to":"ole\u0040example.com"}`}}},
		},
		Settings: llm.Settings{SafetyID: "sarah@example.com"},
	}
	var text, reasoning strings.Builder
	calls := map[int]string{}
	for c, err := range redactedBy(t, model).Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		switch c.Kind {
		case llm.ChunkText:
			text.WriteString(c.Text)
		case llm.ChunkReasoning:
			reasoning.WriteString(c.Text)
		case llm.ChunkToolCall:
			calls[c.Call] += c.Text
		}
	}
	if got, want := text.String(), "I wrote to sarah@example.com, not to [email-9] or ["; got != want {
		t.Errorf("the answer is %q, want %q", got, want)
	}
	if got, want := reasoning.String(), "ask ole@example.com"; got != want {
		t.Errorf("the reasoning is %q, want %q", got, want)
	}
	if want := `{"key":"` + strings.ReplaceAll(key, "\n", `\n`) + `"}`; calls[0] != want || calls[1] != `{"to":"sarah@example.com"}` {
		t.Errorf("the calls are %v", calls)
	}
	sent := model.Requests()[0]
	for i, want := range []string{"Help [email-1].\n\n" + aboutPlaceholders, "Write to [email-2] with [private-key-1]", ""} {
		if got := sent.Messages[i].Content; got != want {
			t.Errorf("message %d is %q, want %q", i, got, want)
		}
	}
	if got := sent.Messages[2].ToolCalls[0].Arguments; got != `{"to":"[email-2]"}` {
		t.Errorf("the call is sent as %s", got)
	}
	if strings.Contains(sent.Messages[1].Parts[0].Name, "@") || sent.Settings.SafetyID != "[email]" {
		t.Errorf("sent: %+v", sent)
	}
	if req.Messages[1].Parts[0].Name != "ole@example.com.pdf" || !strings.Contains(req.Messages[2].ToolCalls[0].Arguments, "ole") {
		t.Error("the request of the caller was changed")
	}
}

// TestModelGetsNoSecretsOfToolResults: they are JSON, where a line break is \n.
func TestModelGetsNoSecretsOfToolResults(t *testing.T) {
	model := scripted.New(scripted.Text("to [email-1]"))
	req := &llm.Request{Messages: []llm.Message{
		{Role: llm.ToolRole, Content: `{"text":"x\nJ\u00f8rn@example.com\n123-45-6789","n":4111111111111111}`},
		{Role: llm.ToolRole, Content: `…\"x\\nJ\u00f8rn@example.com\\n123-45-6789 (cut)`},
	}}
	var text strings.Builder
	for c := range redactedBy(t, model).Stream(t.Context(), req) {
		text.WriteString(c.Text)
	}
	if want := "to Jørn@example.com"; text.String() != want {
		t.Errorf("the answer is %q, want %q", text.String(), want)
	}
	sent := model.Requests()[0].Messages[1:]
	for i, want := range []string{`{"text":"x\n[email-1]\n[ssn-1]","n":"[card-1]"}`, `…\"x\\n[email-2]\\n[ssn-1] (cut)`} {
		if sent[i].Content != want {
			t.Errorf("message %d is %s, want %s", i, sent[i].Content, want)
		}
	}
}

func TestRedactionOfRequestWithoutSecretsChangesNothing(t *testing.T) {
	model := scripted.New(scripted.Text("[email-1] ", "[em"))
	var text strings.Builder
	for c := range redactedBy(t, model).Stream(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "Hello."}}}) {
		text.WriteString(c.Text)
	}
	if sent := model.Requests()[0].Messages; text.String() != "[email-1] [em" || len(sent) != 1 || sent[0].Content != "Hello." {
		t.Errorf("got %q, sent %+v", text.String(), sent)
	}
}

func TestStructuredAnswerStaysJSON(t *testing.T) {
	model := scripted.New(scripted.Text(`{"key":"[private-`, `key-1]"}`))
	req := &llm.Request{Output: &llm.Output{}, Messages: []llm.Message{{Role: llm.User, Content: "-----BEGIN" + " PRIVATE KEY-----\nM\"I"}}}
	var text strings.Builder
	for c := range redactedBy(t, model).Stream(t.Context(), req) {
		text.WriteString(c.Text)
	}
	if want := `{"key":"-----BEGIN` + ` PRIVATE KEY-----\nM\"I"}`; text.String() != want {
		t.Errorf("got %s, want %s", text.String(), want)
	}
	if sent := model.Requests()[0].Messages; len(sent) != 2 || sent[0].Content != aboutPlaceholders {
		t.Errorf("sent %+v", sent)
	}
}

// keptTexts is an embedding model that keeps what it gets.
type keptTexts struct {
	embed.Model
	texts []string
}

func (m *keptTexts) Embed(_ context.Context, texts []string) []embed.Result {
	m.texts = append(m.texts, texts...)
	return make([]embed.Result, len(texts))
}

func (m *keptTexts) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	m.texts = append(m.texts, text)
	return nil, nil
}

func TestEmbeddingModelGetsNoSecrets(t *testing.T) {
	kept := &keptTexts{}
	m := redactTexts(kept, personal(t))
	m.Embed(t.Context(), []string{"to sarah@example.com"})
	_, _ = m.EmbedQuery(t.Context(), "who is sarah@example.com?")
	if got := strings.Join(kept.texts, "; "); got != "to [email]; who is [email]?" {
		t.Errorf("got %q", got)
	}
	if redactTexts(nil, personal(t)) != nil {
		t.Error("no model became one")
	}
}
