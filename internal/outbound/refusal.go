package outbound

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Refusal is an error response of a provider. Its words decide the [Kind]. They may quote
// the request, so only the operator sees them, through [Refusal.Words].
type Refusal struct {
	Message string
	// Type is the provider's name of the error (type, or Google's status).
	Type string
	Code string
	// Param is the field of the request that the refusal is about, if it names one.
	Param string
	// Status is the code, if that is a number.
	Status int
	// Reasons are those of Google's details.
	Reasons string
	// Detail is FastAPI's, as JSON.
	Detail string
	// Body is the beginning of a body that is no JSON.
	Body       string
	RetryAfter time.Duration
}

// Error has the provider's names, not its words.
func (r *Refusal) Error() string { return "the provider refused: " + r.Type + " " + r.Code }

// ReadRefusal reads {"error":{"message","type","code","param","status"}},
// {"error":"…"}, {"type":"error","error":{…}}, {"object":"error","message",…},
// {"detail":…} and a list of one of these. Anything else is an empty refusal.
func ReadRefusal(body []byte) *Refusal {
	r := new(Refusal)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	outerErr := json.Unmarshal(body, &outer)
	r.Detail = string(outer.Detail)
	if outerErr != nil {
		r.Body = string(body[:min(len(body), maxWords)])
	}
	if outerErr == nil && len(outer.Error) > 0 && string(outer.Error) != "null" {
		body = outer.Error
		if json.Unmarshal(body, &r.Message) == nil {
			return r
		}
	}
	var inner struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Status  string          `json:"status"`
		Code    json.RawMessage `json:"code"`
		Param   string          `json:"param"`
		Details []struct {
			Reason     string `json:"reason"`
			RetryDelay string `json:"retryDelay"`
		} `json:"details"`
	}
	// A field of an odd type must not hide the others, so the error is ignored.
	_ = json.Unmarshal(body, &inner)
	r.Message, r.Type, r.Param = inner.Message, inner.Type, inner.Param
	if r.Type == "" {
		r.Type = inner.Status
	}
	if json.Unmarshal(inner.Code, &r.Code) != nil {
		_ = json.Unmarshal(inner.Code, &r.Status)
	}
	if n, err := strconv.Atoi(r.Code); err == nil {
		r.Status = n
	}
	var reasons []string
	for _, d := range inner.Details {
		if d.Reason != "" {
			reasons = append(reasons, d.Reason)
		}
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			r.RetryAfter = wait
		}
	}
	r.Reasons = strings.Join(reasons, " ")
	return r
}
