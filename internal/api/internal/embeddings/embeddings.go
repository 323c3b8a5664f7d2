// Package embeddings serves OpenAI's POST /embeddings with the configured embedding model.
package embeddings

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/body"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/internal/tokens"
)

// Model is the embedding model. Implemented by the models of package embed.
type Model interface {
	Name() string
	Dimensions() int
	Embed(ctx context.Context, texts []string) []embed.Result
}

// shortener is a model whose vectors may be cut: their first numbers, scaled to length 1,
// are vectors, too.
type shortener interface{ Shortens() bool }

type handlers struct {
	api   *rest.API
	model Model
	count tokens.Counter
	// busy holds a place for each request that is under way.
	busy chan struct{}
}

// maxAtOnce bounds the requests that embed at the same time: each holds up to 25 MB of
// vectors, and the offline model computes.
const maxAtOnce = 4

// Routes adds POST /embeddings. model is nil on a server without an embedding model.
func Routes(api *rest.API, model Model) {
	h := &handlers{api: api, model: model, busy: make(chan struct{}, maxAtOnce)}
	api.Route(describe(), h.embed)
}

// embed is POST /embeddings.
func (h *handlers) embed(w http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx := r.Context()
	if p := h.api.Refuse(ctx); p != nil {
		return 0, nil, p
	}
	var in request
	text, p := h.api.Bytes(w, r)
	if p == nil {
		p = body.Decode(text, &in)
	}
	if p == nil {
		p = h.accepts(&in)
	}
	if p != nil {
		return 0, nil, p
	}
	used, p := h.measure(in.Input)
	if p != nil {
		return 0, nil, p
	}
	select {
	case h.busy <- struct{}{}:
		defer func() { <-h.busy }()
	case <-ctx.Done():
		return 0, nil, nil
	}
	results := h.model.Embed(ctx, in.Input)
	for i := range results {
		if err := results[i].Err; err != nil {
			return 0, nil, h.failed(ctx, i, err)
		}
		if results[i].Vector, p = h.shorten(results[i].Vector, in.Dimensions); p != nil {
			return 0, nil, p
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"object":"list","data":[`)
	for i := range results {
		h.write(w, &in, i, results[i].Vector)
	}
	_, _ = fmt.Fprintf(w, `],"model":%s,"usage":{"prompt_tokens":%d,"total_tokens":%[2]d}}`+"\n", web.Encode(h.model.Name()), used)
	return 0, nil, nil
}

// write writes one vector. They are written one by one, because their text is three times as
// long.
func (h *handlers) write(w io.Writer, in *request, i int, v []float32) {
	comma := ","
	if i == 0 {
		comma = ""
	}
	_, _ = fmt.Fprintf(w, `%s{"object":"embedding","index":%d,"embedding":%s}`, comma, i, bytes.TrimSpace(web.Encode(in.encode(v))))
}

// accepts refuses another model's name, and fields that the model cannot heed.
func (h *handlers) accepts(in *request) *problem.Problem {
	if p := in.check(); p != nil {
		return p
	}
	missing := &problem.Problem{Status: http.StatusNotFound, Code: "model_not_found", Param: "model"}
	switch {
	case h.model == nil:
		missing.Message = "this server has no embedding model; its operator sets one with P8_EMBEDDING_MODEL"
		return missing
	case !Names(h.model, in.Model):
		missing.Message = "there is no embedding model " + web.Cut(in.Model) + "; this server's is " + h.model.Name()
		return missing
	}
	if own := h.model.Dimensions(); own > 0 {
		return h.canShorten(own, in.Dimensions)
	}
	return nil // the vectors show it
}

// Names reports whether a name is the model's: with its provider and length, without
// either, or "offline" alone.
func Names(m Model, name string) bool {
	full := m.Name()
	plain, _, _ := strings.Cut(full, "@")
	provider, bare, _ := strings.Cut(plain, ":")
	return name == full || name == plain || name == bare || name == provider && provider == "offline"
}

// maxTokens bounds the tokens of a request, as OpenAI does.
const maxTokens = 300_000

// measure counts the tokens of the texts.
func (h *handlers) measure(texts []string) (n int, _ *problem.Problem) {
	for _, text := range texts {
		if n += h.count.Count(text); n > maxTokens {
			return 0, problem.Invalid("input", "the input has more than %d tokens; send fewer or shorter texts at once", maxTokens)
		}
	}
	return n, nil
}

// canShorten refuses a length that the model's vectors, of length own, cannot have.
func (h *handlers) canShorten(own, dimensions int) *problem.Problem {
	if dimensions == 0 || dimensions == own {
		return nil
	}
	if s, ok := h.model.(shortener); ok && s.Shortens() && dimensions < own {
		return nil
	}
	return problem.Invalid("dimensions", "the model %s has vectors of %d numbers, not %d; leave dimensions out", h.model.Name(), own, dimensions)
}

// shorten returns a vector of so many numbers; 0 is the model's own length.
func (h *handlers) shorten(v []float32, dimensions int) ([]float32, *problem.Problem) {
	if p := h.canShorten(len(v), dimensions); p != nil || dimensions == 0 || dimensions == len(v) {
		return v, p
	}
	v = v[:dimensions]
	embed.Normalise(v)
	return v, nil
}

// encode returns a vector in the form that the client asked for.
func (in *request) encode(v []float32) any {
	if in.EncodingFormat != formatBase64 {
		return v
	}
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// failed words the failure of one text.
func (h *handlers) failed(ctx context.Context, i int, err error) error {
	if errors.Is(err, embed.ErrEmpty) {
		return problem.Invalid("input", "input[%d] has no words, so the model %s has no vector for it", i, h.model.Name())
	}
	var e *embed.Error
	if !errors.As(err, &e) {
		return err
	}
	h.api.Logger.WarnContext(ctx, "embed", "error", err, "cause", e.Err, "request_id", web.RequestID(ctx))
	p := &problem.Problem{Status: http.StatusBadGateway, Code: string(e.Kind), Message: e.Error(), RetryAfter: e.RetryAfter}
	switch e.Kind {
	case outbound.RateLimit, outbound.Unavailable, embed.NoModel:
		p.Status = http.StatusServiceUnavailable
	case outbound.Timeout:
		p.Status = http.StatusGatewayTimeout
	case outbound.TooLong, outbound.BadRequest:
		if e.OneText {
			p.Status, p.Param = http.StatusBadRequest, "input"
		}
	}
	return p
}
