package replay

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/llm"
)

// Piece is a part of a model's answer: one field is set. Chunks of a text are kept
// together; Chunks has their lengths in characters, if there are several.
type Piece struct {
	Text      string         `json:"text,omitempty"`
	Reasoning string         `json:"reasoning,omitempty"`
	Call      *PieceOfCall   `json:"call,omitempty"`
	Chunks    string         `json:"chunks,omitempty"`
	Thought   *llm.Reasoning `json:"thought,omitempty"`
	Warning   *Note          `json:"warning,omitempty"`
	Instead   *Note          `json:"instead,omitempty"`
	Finish    llm.Finish     `json:"finish,omitempty"`
	Usage     *Usage         `json:"usage,omitempty"`
}

// PieceOfCall is a tool call, or more of its arguments.
type PieceOfCall struct {
	Index     int    `json:"index"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Signature string `json:"signature,omitempty"`
}

// Note is a warning, or another model that answers.
type Note struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

// Usage is llm.Usage.
type Usage struct {
	Input      int `json:"input_tokens"`
	Cached     int `json:"cached_tokens,omitempty"`
	CacheWrite int `json:"cache_write_tokens,omitempty"`
	CacheHour  int `json:"cache_hour_tokens,omitempty"`
	Output     int `json:"output_tokens"`
	Reasoning  int `json:"reasoning_tokens,omitempty"`
}

// answer collects the chunks of an answer.
type answer struct {
	pieces  []Piece
	lengths [][]int
}

// add keeps a chunk, with the one before if the two are parts of one text.
func (a *answer) add(c llm.Chunk) {
	n := len(a.pieces) - 1
	length := utf8.RuneCountInString(c.Text)
	if n >= 0 && c.ID == "" && c.Name == "" && c.Signature == "" {
		last := &a.pieces[n]
		var text *string
		switch {
		case c.Kind == llm.ChunkText && last.Text != "":
			text = &last.Text
		case c.Kind == llm.ChunkReasoning && last.Reasoning != "":
			text = &last.Reasoning
		case c.Kind == llm.ChunkToolCall && last.Call != nil && last.Call.Index == c.Call:
			text = &last.Call.Arguments
		}
		if text != nil {
			*text += c.Text
			a.lengths[n] = append(a.lengths[n], length)
			return
		}
	}
	p := Piece{}
	switch c.Kind {
	case llm.ChunkText:
		p.Text = c.Text
	case llm.ChunkReasoning:
		p.Reasoning = c.Text
	case llm.ChunkToolCall:
		p.Call = &PieceOfCall{c.Call, c.ID, c.Name, c.Text, c.Signature}
	case llm.ChunkThought:
		p.Thought = c.Thought
	case llm.ChunkWarning:
		p.Warning = &Note{c.Name, c.Text}
	case llm.ChunkModel:
		p.Instead = &Note{c.Name, c.Text}
	case llm.ChunkFinish:
		p.Finish = c.Finish
	case llm.ChunkUsage:
		u := Usage(c.Usage)
		p.Usage = &u
	}
	if p != (Piece{}) {
		a.pieces, a.lengths = append(a.pieces, p), append(a.lengths, []int{length})
	}
}

// done returns the pieces without secrets.
func (a *answer) done(clean func(string) string) []Piece {
	for i := range a.pieces {
		p := &a.pieces[i]
		p.Text, p.Reasoning = clean(p.Text), clean(p.Reasoning)
		if p.Call != nil {
			p.Call.Arguments = clean(p.Call.Arguments)
		}
		if p.Thought != nil {
			thought := *p.Thought
			thought.Text = clean(thought.Text)
			p.Thought = &thought
		}
		for _, note := range []*Note{p.Warning, p.Instead} {
			if note != nil {
				note.Text = clean(note.Text)
			}
		}
		if len(a.lengths[i]) > 1 {
			var lengths []string
			for _, n := range a.lengths[i] {
				lengths = append(lengths, strconv.Itoa(n))
			}
			p.Chunks = strings.Join(lengths, " ")
		}
	}
	return a.pieces
}

// chunks returns the chunks of a piece.
func (p *Piece) chunks() []llm.Chunk {
	switch {
	case p.Text != "":
		return cut(llm.Chunk{Kind: llm.ChunkText, Text: p.Text}, p.Chunks)
	case p.Reasoning != "":
		return cut(llm.Chunk{Kind: llm.ChunkReasoning, Text: p.Reasoning}, p.Chunks)
	case p.Call != nil:
		c := p.Call
		return cut(llm.Chunk{Kind: llm.ChunkToolCall, Call: c.Index, ID: c.ID, Name: c.Name, Text: c.Arguments, Signature: c.Signature}, p.Chunks)
	case p.Thought != nil:
		return []llm.Chunk{{Kind: llm.ChunkThought, Thought: p.Thought}}
	case p.Warning != nil:
		return []llm.Chunk{{Kind: llm.ChunkWarning, Name: p.Warning.Name, Text: p.Warning.Text}}
	case p.Instead != nil:
		return []llm.Chunk{{Kind: llm.ChunkModel, Name: p.Instead.Name, Text: p.Instead.Text}}
	case p.Finish != "":
		return []llm.Chunk{{Kind: llm.ChunkFinish, Finish: p.Finish}}
	case p.Usage != nil:
		return []llm.Chunk{{Kind: llm.ChunkUsage, Usage: llm.Usage(*p.Usage)}}
	}
	return nil
}

// cut returns a chunk in pieces of the recorded lengths. The last one has the rest of a text
// that was edited.
func cut(c llm.Chunk, lengths string) []llm.Chunk {
	text := []rune(c.Text)
	var out []llm.Chunk
	fields := strings.Fields(lengths)
	for i, field := range fields {
		n, err := strconv.Atoi(field)
		if err != nil || n < 0 || n > len(text) || i == len(fields)-1 {
			n = len(text)
		}
		c.Text, text = string(text[:n]), text[n:]
		out = append(out, c)
		c.ID, c.Name, c.Signature = "", "", ""
	}
	if out == nil {
		out = []llm.Chunk{c}
	}
	return out
}
