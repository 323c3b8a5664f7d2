package api_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// A field that a route does not have is refused by its name wherever the description says that
// there are no others: ignored, a misspelt end or limit would be none.
func TestUnknownFields(t *testing.T) {
	s := complete(t)
	var spec struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
		Components struct {
			Schemas map[string]struct {
				Additional any `json:"additionalProperties"`
			}
		}
	}
	must(t, json.Unmarshal(s.do("GET", "/openapi.json", "").Body.Bytes(), &spec))
	admin := "Authorization: Bearer " + tokenOf(t, "acme", "ada", "admin")
	strict := 0
	for path, methods := range spec.Paths {
		for method, op := range methods {
			name := strings.TrimPrefix(op.RequestBody.Content["application/json"].Schema.Ref, "#/components/schemas/")
			if spec.Components.Schemas[name].Additional != false || op.OperationID == "login" { // access_test.go has it
				continue
			}
			strict++
			at := strings.NewReplacer("{id}", "x", "{user}", "ada").Replace(path)
			w := s.do(strings.ToUpper(method), at, `{"surprise":1}`, admin)
			if w.Code != 422 || !strings.Contains(w.Body.String(), `"param":"surprise"`) {
				t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
			}
		}
	}
	if strict < 15 {
		t.Errorf("only %d bodies", strict)
	}
	for body, says := range map[string]string{
		`{"link":true,"expires":"2100-01-01T00:00:00Z"}`: "did you mean expires_at?",
		`{"link":true,"Role":"reader","x":{}}`:           "the fields are shared_with_user_id, link, role, expires_at",
		`{"link":true,"expires_at":"yesterday"}`:         "expires_at is",
		`{"link":true,"expires_at":""}`:                  "leave it out for no end",
		`{"link":true,"":1}`:                             "there is no field",
		`{"` + strings.Repeat("x", 10_000) + `":1}`:      "there is no field",
	} {
		if w := s.do("POST", "/sessions/s/shares", body, admin); w.Code != 422 || !strings.Contains(w.Body.String(), says) || w.Body.Len() > 2000 {
			t.Errorf("%s: %d %s", body[:20], w.Code, w.Body)
		}
	}
}

// OpenAI's clients send fields that p8 does not have.
func TestUnknownFieldsOfOpenAI(t *testing.T) {
	embedded(t, lengths{dimensions: 4}, `{"model":"text-embedding-3-small","input":"tea","surprise":1}`)
}
