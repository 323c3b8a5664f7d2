package openai

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/outbound"
)

type request struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	Dimensions     int      `json:"dimensions,omitempty"`
	EncodingFormat string   `json:"encoding_format,omitempty"`
}

// ask embeds texts with one request, and retries temporary failures. It returns an
// *embed.Error, or the cancellation of ctx.
func (m *Model) ask(ctx context.Context, texts []string) ([][]float32, error) {
	r := request{Model: m.model, Input: texts, Dimensions: m.asked}
	if m.packed {
		r.EncodingFormat = "base64"
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, &embed.Error{Kind: outbound.BadRequest, Model: m.name, Err: err}
	}
	if m.debug != nil {
		m.debug(body)
	}
	for try := 0; ; try++ {
		vectors, f := m.attempt(ctx, body, len(texts))
		if f == nil {
			return vectors, nil
		}
		if err := ctx.Err(); errors.Is(err, context.Canceled) {
			return nil, err
		}
		if !f.retry || try >= m.retries || !outbound.Pause(ctx, try, f.RetryAfter) {
			if err := ctx.Err(); errors.Is(err, context.Canceled) {
				return nil, err
			}
			return nil, f.Error
		}
	}
}

// maxNumber bounds a number in JSON with its separator, in bytes.
const maxNumber = 32

// maxRefusal bounds the body of an error response, in bytes.
const maxRefusal = 64 << 10

func (m *Model) attempt(ctx context.Context, body []byte, n int) ([][]float32, *failure) {
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, m.fail(embed.NoModel, err, "check the base URL")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	m.authorize(req.Header)
	resp, err := m.client.Do(req)
	if err != nil {
		return nil, m.broken(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // a partial body will do
		return nil, m.refused(resp.StatusCode, text, outbound.RetryAfter(resp.Header))
	}
	dimensions := maxDimensions
	if d := m.Dimensions(); d > 0 {
		dimensions = d
	}
	limit := int64(n)*int64(dimensions)*maxNumber + 1<<20
	text, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, m.broken(ctx, err)
	}
	if int64(len(text)) > limit {
		return nil, m.fail(outbound.BadResponse, nil, "the answer is longer than its vectors can be")
	}
	vectors, err := decode(text, n)
	if err != nil {
		return nil, m.fail(outbound.BadResponse, err, "check the base URL, which usually ends in /v1, and that the model makes embeddings")
	}
	return vectors, nil
}

// decode returns the vectors of n texts in the order of the texts.
func decode(body []byte, n int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     *int   `json:"index"`
			Embedding vector `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Data) != n {
		return nil, fmt.Errorf("%d vectors for %d texts", len(answer.Data), n)
	}
	vectors := make([][]float32, n)
	filled := make([]bool, n)
	for i, d := range answer.Data {
		at := i // servers without indices keep the order
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || filled[at] {
			return nil, fmt.Errorf("the index %d is out of range or there twice", at)
		}
		vectors[at], filled[at] = d.Embedding, true
	}
	return vectors, nil
}

// vector is an array of numbers, or the base64 of float32 in little endian.
type vector []float32

// UnmarshalJSON implements json.Unmarshaler.
func (v *vector) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '"' {
		// null would be decoded as 0.
		if bytes.Contains(b, []byte("null")) {
			return errors.New("a vector holds null")
		}
		return json.Unmarshal(b, (*[]float32)(v))
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	if len(raw)%4 != 0 {
		return fmt.Errorf("%d bytes are no float32 numbers", len(raw))
	}
	*v = make(vector, len(raw)/4)
	for i := range *v {
		(*v)[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}
