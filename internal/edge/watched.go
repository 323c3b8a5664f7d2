package edge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// watched reports the problems of an ACME authority. The library drops the reason of a failed
// verification, and every failure of a renewal.
type watched struct {
	next   http.RoundTripper
	report func(domain, problem string)
}

const (
	// maxAnswer bounds an answer of the authority, maxProblem what is logged of it, in bytes.
	maxAnswer, maxProblem = 1 << 20, 400
)

// problem is a problem document (RFC 9457).
type problem struct {
	Type, Detail string
}

// RoundTrip sends a request to the authority.
func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := w.next.RoundTrip(r)
	if err != nil {
		if r.Context().Err() == nil {
			w.report("", "the authority cannot be reached: "+err.Error())
		}
		return nil, err
	}
	var answer struct {
		problem
		Identifier struct{ Value string }
		Error      problem
		Challenges []struct{ Error problem }
	}
	if strings.Contains(res.Header.Get("Content-Type"), "json") {
		body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		_ = res.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("read the answer of the authority: %w", err)
		}
		res.Body = io.NopCloser(bytes.NewReader(body))
		// The library reports an answer that is no JSON.
		_ = json.Unmarshal(body, &answer)
	}
	problems := []problem{answer.Error}
	if res.StatusCode >= http.StatusBadRequest {
		if answer.Detail == "" {
			answer.Detail = "the authority answered " + res.Status
		}
		problems = append(problems, answer.problem)
	}
	for _, c := range answer.Challenges {
		problems = append(problems, c.Error)
	}
	for _, p := range problems {
		// The library repeats a request whose nonce is too old.
		if p.Detail != "" && !strings.HasSuffix(strings.ToLower(p.Type), ":badnonce") {
			w.report(answer.Identifier.Value, p.Detail[:min(len(p.Detail), maxProblem)])
		}
	}
	return res, nil
}
