package phoenix

import (
	"context"
	"net/http"
	"net/url"
)

// The kinds of annotators.
const (
	Human = "HUMAN"
	Model = "LLM"
	Code  = "CODE"
)

// Annotation is what somebody says about a span.
type Annotation struct {
	SpanID string `json:"span_id"`
	// Name is what is judged, such as user_feedback.
	Name string `json:"name"`
	// AnnotatorKind is Human, Model or Code.
	AnnotatorKind string         `json:"annotator_kind"`
	Result        Result         `json:"result"`
	Metadata      map[string]any `json:"metadata,omitempty"`
	// Identifier names the annotator: a second annotation of a span with the same name and
	// identifier replaces the first.
	Identifier string `json:"identifier,omitempty"`
}

// Result is a judgement; each field may be missing.
type Result struct {
	Score       *float64 `json:"score,omitempty"`
	Label       string   `json:"label,omitempty"`
	Explanation string   `json:"explanation,omitempty"`
}

// AnnotateSpans stores annotations. A span that the server does not know (yet) is a
// [StatusError] with the status 404.
func (c *Client) AnnotateSpans(ctx context.Context, list ...Annotation) error {
	body := struct {
		Data []Annotation `json:"data"`
	}{list}
	// Without sync the server takes annotations of spans that never arrive.
	return c.do(ctx, http.MethodPost, "v1/span_annotations", url.Values{"sync": {"true"}}, body, nil)
}
