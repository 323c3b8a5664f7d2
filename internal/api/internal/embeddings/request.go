package embeddings

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/tokens"
)

// request is OpenAI's body. user is ignored: the headers name the caller.
type request struct {
	Model          string `json:"model"`
	Input          input  `json:"input"`
	EncodingFormat string `json:"encoding_format"`
	Dimensions     int    `json:"dimensions"`
}

const (
	formatFloat  = "float"
	formatBase64 = "base64"
)

// describe describes the route.
func describe() huma.Operation {
	op := rest.Operation("embeddings", http.MethodPost, "/embeddings", "The vectors of texts, by the server's embedding model", "chat")
	of := func(t, doc string) *huma.Schema { return &huma.Schema{Type: t, Description: doc} }
	op.Parameters = rest.Callers()
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{
		Type: huma.TypeObject, Required: []string{"model", "input"}, Properties: map[string]*huma.Schema{
			"model":           of(huma.TypeString, "The configured embedding model, with or without its provider."),
			"input":           {Description: "A text, an array of texts, or tokens of cl100k_base."},
			"encoding_format": {Type: huma.TypeString, Enum: []any{formatFloat, formatBase64}},
			"dimensions":      of(huma.TypeInteger, "The model's own length, or a shorter one if the model can."),
			"user":            of(huma.TypeString, "Ignored: the headers name the caller."),
		},
	}}}}
	op.Responses = map[string]*huma.Response{
		"200":     {Description: "OpenAI's list of embeddings.", Content: map[string]*huma.MediaType{"application/json": {}}},
		"default": {Description: `{"error":{"message","type","code","param"}}`},
	}
	return op
}

// maxInputs bounds the texts of a request, as OpenAI does.
const maxInputs = 2048

// Example is shown to a client that sent an empty body.
func (*request) Example() string { return `{"model":"text-embedding-3-small","input":"hello"}` }

func (in *request) check() *problem.Problem {
	switch {
	case in.Model == "":
		return problem.Invalid("model", "model is missing; it is the name of the embedding model")
	case len(in.Input) == 0:
		return problem.Invalid("input", "input is missing; it is a text, or an array of texts")
	case len(in.Input) > maxInputs:
		return problem.Invalid("input", "input has %d texts; %d are the most", len(in.Input), maxInputs)
	case in.EncodingFormat != "" && in.EncodingFormat != formatFloat && in.EncodingFormat != formatBase64:
		return problem.Invalid("encoding_format", "encoding_format is %q; it is float or base64", web.Cut(in.EncodingFormat))
	case in.Dimensions < 0:
		return problem.Invalid("dimensions", "dimensions is %d; it must be 1 or more", in.Dimensions)
	}
	return nil
}

// input has the texts, which clients also send as tokens of cl100k_base.
type input []string

func (in *input) UnmarshalJSON(b []byte) error {
	var text string
	var texts []string
	var one []int
	var many [][]int
	switch {
	case string(b) == "null":
		return nil
	case json.Unmarshal(b, &text) == nil:
		*in = input{text}
		return nil
	case json.Unmarshal(b, &texts) == nil:
		*in = texts
		return nil
	case json.Unmarshal(b, &one) == nil:
		many = [][]int{one}
	case json.Unmarshal(b, &many) != nil:
		return problem.Invalid("input", "input must be a text, an array of texts, an array of tokens, or an array of arrays of tokens")
	}
	for i, ids := range many {
		text, ok := tokens.Decode(ids)
		if !ok {
			return problem.Invalid("input", "input[%d] has a token that cl100k_base lacks; send the text itself", i)
		}
		*in = append(*in, strings.ToValidUTF8(text, "\ufffd"))
	}
	return nil
}
