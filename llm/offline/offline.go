// Package offline is the model "offline:search", which needs no network, no key and
// no weights. It is not a language model and says so in its answers.
//
// It answers a first question on a machine where nothing is configured: it calls the
// agent's search tool with the words of the user's message, reads the best rows in
// full, and quotes the passages that share most words with the question, each with
// its key. The same messages always give the same answer.
//
// A request for a structured answer, or for a call of another tool, fails with an
// [llm.Error] of kind NoModel, because quotations cannot fill a schema.
package offline

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/llm"
)

// searchTool is the only tool that the model calls.
const searchTool = "search"

// howTo ends every answer.
const howTo = "To get answers from one, set OPENAI_API_KEY, or start Ollama, or name a model in P8_DEFAULT_MODEL, such as openai:gpt-4.1."

// Options configure a Model; the zero value works.
type Options struct {
	// Notice replaces the sentence that no language model is configured.
	Notice string
}

// Model is the offline model. It is safe for concurrent use.
type Model struct{ notice string }

// New makes the model.
func New(o Options) *Model {
	if o.Notice == "" {
		o.Notice = "No language model is configured."
	}
	return &Model{notice: o.Notice}
}

// Name returns "offline:search".
func (m *Model) Name() string { return llm.OfflineModel }

// Capabilities returns none. The model takes every setting and heeds none, so that a
// client works with it as with any other.
func (m *Model) Capabilities() llm.Capabilities { return llm.Capabilities{Takes: ^llm.Setting(0)} }

// Stream calls the search tool, or answers from the rows found since the last user
// message.
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(llm.Chunk{}, err)
			return
		}
		if what := beyond(req); what != "" {
			yield(llm.Chunk{}, &llm.Error{
				Kind: llm.NoModel, Model: m.Name(),
				Hint: what + " needs one; set OPENAI_API_KEY, or start Ollama, or name a model in P8_DEFAULT_MODEL",
			})
			return
		}
		t := readTurn(req.Messages)
		t.manual = mentionsManual(req)
		if hasTool(req, searchTool) && req.ToolChoice != "none" {
			if queries := t.next(); len(queries) > 0 {
				call(req, queries, yield)
				return
			}
		}
		say(req, m.answer(t, hasTool(req, searchTool)), yield)
	}
}

// beyond names what only a language model can do of a request, "" if nothing.
func beyond(req *llm.Request) string {
	switch {
	case req.Output != nil || hasTool(req, llm.OutputTool):
		return "an answer that follows a schema"
	case req.ToolChoice != "required":
		return ""
	case req.ToolName != "" && req.ToolName != searchTool || !hasTool(req, searchTool):
		return "a tool call that must be made"
	}
	return ""
}

// mentionsManual reports whether the agent's prompt or its search tool names p8's manual.
func mentionsManual(req *llm.Request) bool {
	return slices.ContainsFunc(req.Tools, func(t llm.ToolSpec) bool { return t.Name == searchTool && strings.Contains(t.Description, inManual) }) ||
		slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return m.Role == llm.System && strings.Contains(m.Content, inManual) })
}

func hasTool(req *llm.Request, name string) bool {
	return slices.ContainsFunc(req.Tools, func(t llm.ToolSpec) bool { return t.Name == name })
}

// call calls the search tool with each query.
func call(req *llm.Request, queries []string, yield func(llm.Chunk, error) bool) {
	id := fingerprint(req.Messages)
	output := 0
	for i, query := range queries {
		arguments, err := json.Marshal(map[string]string{"query": query})
		if err != nil {
			yield(llm.Chunk{}, err)
			return
		}
		output += llm.EstimateTokens(string(arguments))
		if !yield(llm.Chunk{Kind: llm.ChunkToolCall, Call: i, ID: id + "_" + strconv.Itoa(i+1), Name: searchTool, Text: string(arguments)}, nil) {
			return
		}
	}
	finish(req, output, llm.FinishToolCalls, yield)
}

// fingerprint returns a call id that depends only on the conversation, so that results
// are never matched with calls of an earlier turn.
func fingerprint(messages []llm.Message) string {
	h := fnv.New64a()
	for _, m := range messages {
		for _, s := range [...]string{string(m.Role), m.Content, m.ToolCallID} {
			_, _ = h.Write([]byte(s))
			_, _ = h.Write([]byte{0})
		}
	}
	return "call_" + strconv.FormatUint(h.Sum64(), 36)
}

// say sends the text in pieces of a few words, as a model would.
func say(req *llm.Request, text string, yield func(llm.Chunk, error) bool) {
	const piece = 32
	for rest := text; rest != ""; {
		n := len(rest)
		if n > piece {
			if i := strings.IndexAny(rest[piece:], " \n"); i >= 0 {
				n = piece + i + 1
			}
		}
		if !yield(llm.Chunk{Kind: llm.ChunkText, Text: rest[:n]}, nil) {
			return
		}
		rest = rest[n:]
	}
	finish(req, llm.EstimateTokens(text), llm.FinishStop, yield)
}

// finish yields an estimated usage, so that rows and limits work as with other
// models.
func finish(req *llm.Request, output int, reason llm.Finish, yield func(llm.Chunk, error) bool) {
	input := 0
	for _, m := range req.Messages {
		input += llm.EstimateTokens(m.Content)
	}
	if yield(llm.Chunk{Kind: llm.ChunkUsage, Usage: llm.Usage{Input: input, Output: output}}, nil) {
		yield(llm.Chunk{Kind: llm.ChunkFinish, Finish: reason}, nil)
	}
}

// answer returns the text of the answer.
func (m *Model) answer(t turn, canSearch bool) string {
	var b strings.Builder
	quotes := t.quotes()
	switch {
	case len(quotes) > 0:
		b.WriteString("This is what the knowledge base says:\n\n")
		for _, q := range quotes {
			b.WriteString(q)
			b.WriteString("\n\n")
		}
		b.WriteString(m.notice + " This is a quotation, not an answer. ")
	case !canSearch:
		b.WriteString(m.notice + " And this agent has no search tool, so I can do nothing with your message. ")
	case t.failure != "":
		b.WriteString("The search failed: " + t.failure + "\n\n" + m.notice + " All I can do is search and quote. ")
	case len(t.words) == 0:
		b.WriteString(m.notice + " All I can do is search the knowledge base for the words of a question and quote what I find. ")
	default:
		b.WriteString("I found nothing about \"" + strings.Join(t.words, " ") + "\" in the knowledge base.\n\n" + m.notice + " All I can do is search and quote. ")
	}
	b.WriteString(howTo)
	return b.String()
}
