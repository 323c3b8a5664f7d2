package openai

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/outbound"
)

// The bounds of a request; OpenAI's are 2,048 texts and 300,000 tokens.
const (
	maxTexts  = 128
	maxTokens = 200_000
	// minBytesPerToken estimates tokens from bytes, on the high side.
	minBytesPerToken = 3
	// maxHalvings bounds how often a text that is too long is halved.
	maxHalvings = 8
)

// item is a text of a request.
type item struct {
	at       int // in the results
	text     string
	halvings int
}

// work is the state of one call of Embed.
type work struct {
	*Model
	results []embed.Result
	// sound: the model has returned a vector, so a refusal is about the text.
	sound bool
	// broken is the error of a model that does not work, for the remaining texts.
	broken error
}

func (m *Model) embed(ctx context.Context, before string, texts []string) []embed.Result {
	w := &work{Model: m, results: make([]embed.Result, len(texts))}
	var batch []item
	tokens := 0
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			w.results[i].Err = embed.ErrEmpty
			continue
		}
		text = strings.ToValidUTF8(m.cut(before+text, m.known.maxTokens), "�")
		n := len(text)/minBytesPerToken + 1
		if len(batch) > 0 && (len(batch) == maxTexts || tokens+n > maxTokens) {
			w.send(ctx, batch)
			batch, tokens = batch[:0], 0
		}
		batch = append(batch, item{at: i, text: text})
		tokens += n
	}
	if len(batch) > 0 {
		w.send(ctx, batch)
	}
	return w.results
}

// send embeds a batch. If the batch is refused, send halves it.
func (w *work) send(ctx context.Context, batch []item) {
	if w.broken != nil {
		w.refuse(batch, w.broken)
		return
	}
	texts := make([]string, len(batch))
	for i, it := range batch {
		texts[i] = it.text
	}
	vectors, err := w.ask(ctx, texts)
	if err == nil {
		w.sound = true
		for i, it := range batch {
			w.results[it.at] = w.check(vectors[i])
		}
		return
	}
	var e *embed.Error
	if !errors.As(err, &e) || !aboutText(e.Kind) {
		w.broken = err
		w.refuse(batch, err)
		return
	}
	if e.Kind != outbound.TooLong && !w.alive(ctx) {
		w.refuse(batch, w.broken)
		return
	}
	if len(batch) > 1 {
		half := len(batch) / 2
		w.send(ctx, batch[:half])
		w.send(ctx, batch[half:])
		return
	}
	it := batch[0]
	if e.Kind == outbound.TooLong && it.halvings < maxHalvings && len(it.text) > 1 {
		w.send(ctx, []item{{it.at, head(it.text, (len(it.text)+1)/2), it.halvings + 1}})
		return
	}
	e.OneText, e.Hint = true, "it is tried again later; should it stay so, shorten or change it"
	w.refuse(batch, e)
}

// aboutText reports whether a text may have caused a failure.
func aboutText(k outbound.Kind) bool {
	return k == outbound.BadRequest || k == outbound.TooLong || k == outbound.BadResponse
}

// alive checks once whether the model embeds a short text.
func (w *work) alive(ctx context.Context) bool {
	if w.sound {
		return true
	}
	_, err := w.ask(ctx, []string{"hello"})
	w.sound, w.broken = err == nil, err
	return w.sound
}

func (w *work) refuse(batch []item, err error) {
	for _, it := range batch {
		w.results[it.at].Err = err
	}
}

// check returns the result of a vector.
func (w *work) check(v []float32) embed.Result {
	bad := func(format string, args ...any) embed.Result {
		return embed.Result{Err: &embed.Error{Kind: outbound.BadResponse, Model: w.name, OneText: true, Hint: fmt.Sprintf(format, args...)}}
	}
	if len(v) == 0 || len(v) > maxDimensions {
		return bad("a vector has %d dimensions", len(v))
	}
	if w.asked > 0 && len(v) != w.asked {
		return bad("a vector has %d dimensions, not the %d that were asked for; unset P8_EMBEDDING_DIMENSIONS if the model does not let one choose", len(v), w.asked)
	}
	if !embed.Normalise(v) {
		return bad("a vector is zero or holds what is no number")
	}
	if !w.learned.CompareAndSwap(0, int64(len(v))) {
		if n := int(w.learned.Load()); n != len(v) {
			return bad("a vector has %d dimensions, the ones before it %d", len(v), n)
		}
	}
	return embed.Result{Vector: v}
}
