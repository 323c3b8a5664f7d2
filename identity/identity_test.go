package identity_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
)

const aliceID = "edabafbb-61ad-51d6-9fd8-e976c892a731"

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestUserID(t *testing.T) {
	for email, want := range map[string]string{
		"alice@example.com":     aliceID,
		" Alice@Example.COM\t ": aliceID,
		"":                      "",
		"  ":                    "",
	} {
		if got := identity.UserID(email); got != want {
			t.Errorf("UserID(%q) = %q, want %q", email, got, want)
		}
	}
}

func TestFromHeaders(t *testing.T) {
	defaults := identity.Identity{DefaultModel: "openai:gpt-4.1", ClientID: "api"}
	for name, c := range map[string]struct {
		headers http.Header
		want    identity.Identity
	}{
		"none": {nil, identity.Identity{TenantID: "default", DefaultModel: "openai:gpt-4.1", ClientID: "api"}},
		"all, in any case": {
			headers("x-user-id", "u1", "X-TENANT-ID", "acme", "x-session-id", "sess 456", "X-Model-Name", "ollama:llama3",
				"x-agent-schema", "researcher", "X-Is-Eval", "YES", "x-client-id", "mobile", "x-user-email", "a@b.c", "x-user-name", "Ann Lee"),
			identity.Identity{UserID: "u1", TenantID: "acme", SessionID: "sess 456", DefaultModel: "ollama:llama3",
				AgentSchemaURI: "researcher", IsEval: true, ClientID: "mobile", Email: "a@b.c", Name: "Ann Lee"},
		},
		"an e-mail gives the user": {
			headers("X-User-Email", "alice@example.com"),
			identity.Identity{UserID: aliceID, Email: "alice@example.com", TenantID: "default", DefaultModel: "openai:gpt-4.1", ClientID: "api"},
		},
		"an id that is an e-mail": {
			headers("X-User-Id", " Alice@Example.com"),
			identity.Identity{UserID: aliceID, Email: "Alice@Example.com", TenantID: "default", DefaultModel: "openai:gpt-4.1", ClientID: "api"},
		},
		"an id that is the e-mail": {
			headers("X-User-Id", "alice@example.com", "X-User-Email", "ALICE@example.com"),
			identity.Identity{UserID: aliceID, Email: "alice@example.com", TenantID: "default", DefaultModel: "openai:gpt-4.1", ClientID: "api"},
		},
		"Latin-1, as Node sends it, and UTF-8": {
			headers("X-User-Name", "Jos\xe9", "X-Session-Id", "José", "X-User-Id", "jos\xe9"),
			identity.Identity{UserID: "josé", Name: "José", SessionID: "José", TenantID: "default", DefaultModel: "openai:gpt-4.1", ClientID: "api"},
		},
		"p8's agent header": {
			headers("x-agent-schema-name", "general", "X-Is-Eval", "nope"),
			identity.Identity{AgentSchemaURI: "general", TenantID: "default", DefaultModel: "openai:gpt-4.1", ClientID: "api"},
		},
		"REMLight's agent header beats p8's, blank is absent": {
			headers("x-agent-schema-name", "general", "X-Agent-Schema", "other", "X-User-Id", "  "),
			identity.Identity{AgentSchemaURI: "other", TenantID: "default", DefaultModel: "openai:gpt-4.1", ClientID: "api"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := identity.FromHeaders(c.headers, defaults)
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestFromHeadersReplacesTheWholeUser(t *testing.T) {
	defaults := identity.Identity{UserID: aliceID, Email: "alice@example.com", Name: "Alice", UserContext: "Profile: x"}
	got, err := identity.FromHeaders(headers("X-User-Id", "bob"), defaults)
	if want := (identity.Identity{UserID: "bob", TenantID: "default"}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestBadHeaders(t *testing.T) {
	long := strings.Repeat("x", 129)
	for want, h := range map[string]http.Header{
		"user_email is not the address in the user id; send one of the two":                      headers("X-User-Id", "a@example.com", "X-User-Email", "b@example.com"),
		"X-Session-Id is 129 characters long; at most 128 are allowed":                           headers("X-Session-Id", long),
		"X-User-Id holds U+0001 at character 3; only printable characters are allowed":           headers("X-User-Id", "üb\x01"),
		"X-User-Name holds U+0085 at character 2; only printable characters are allowed":         headers("X-User-Name", "a\x85b"),
		`X-Tenant-Id is "_", which is reserved; choose another tenant`:                           headers("X-Tenant-Id", "_"),
		"X-User-Email is not an e-mail address; write it as name@example.com":                    headers("X-User-Email", "alice"),
		"X-User-Id is given more than once; send it once":                                        headers("X-User-Id", "a", "X-User-Id", "b"),
		"X-Agent-Schema-Name holds U+200B at character 1; only printable characters are allowed": headers("X-Agent-Schema-Name", "\u200bgeneral"),
	} {
		_, err := identity.FromHeaders(h, identity.Identity{})
		var invalid *identity.InvalidError
		if !errors.As(err, &invalid) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestFromRequest(t *testing.T) {
	h := headers("X-User-Id", "mallory", "X-Tenant-Id", "other", "X-User-Email", "m@example.com", "X-User-Name", "M",
		"X-Session-Id", "s1", "X-Model-Name", "openai:gpt-4.1", "X-Agent-Schema", "researcher", "X-Client-Id", "web", "X-Is-Eval", "1")
	asked := identity.Identity{SessionID: "s1", DefaultModel: "openai:gpt-4.1", AgentSchemaURI: "researcher", ClientID: "web", IsEval: true}
	with := func(user, tenant, email, name string) identity.Identity {
		id := asked
		id.UserID, id.TenantID, id.Email, id.Name = user, tenant, email, name
		return id
	}
	token := identity.Identity{UserID: aliceID, TenantID: "acme", Email: "alice@example.com", Name: "Alice"}
	for name, c := range map[string]struct {
		token *identity.Identity
		trust bool
		want  identity.Identity
	}{
		"untrusted headers are not believed": {nil, false, with("", "default", "", "")},
		"trusted headers are":                {nil, true, with("mallory", "other", "m@example.com", "M")},
		"a token stands":                     {&token, false, with(aliceID, "acme", "alice@example.com", "Alice")},
		"a token stands even then":           {&token, true, with(aliceID, "acme", "alice@example.com", "Alice")},
		"an anonymous token too":             {&identity.Identity{}, true, with("", "default", "", "")},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", nil)
			r.Header = h
			if c.token != nil {
				r = r.WithContext(identity.With(r.Context(), *c.token))
			}
			got, err := identity.FromRequest(r, c.trust)
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

// Identity headers that do not count cannot break a request either.
func TestUntrustedHeadersAreNotEvenChecked(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header = headers("X-Tenant-Id", "_", "X-User-Email", "?")
	if id, err := identity.FromRequest(r, false); err != nil || !id.Anonymous() {
		t.Errorf("got %+v, %v", id, err)
	}
	if _, err := identity.FromRequest(r, true); err == nil {
		t.Error("the reserved tenant was taken from a trusted header")
	}
}

func TestJSON(t *testing.T) {
	full := identity.Identity{UserID: "u1", TenantID: "acme", SessionID: "s1", DefaultModel: "openai:gpt-4.1", AgentSchemaURI: "a",
		IsEval: true, ClientID: "cli", Email: "a@b.c", Name: "Ann", UserContext: "Profile: likes\ntea"}
	b, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	var back identity.Identity
	if err := json.Unmarshal(b, &back); err != nil || back != full {
		t.Errorf("round trip: %+v, %v", back, err)
	}
	anonymous := identity.Identity{TenantID: "default"}
	for _, text := range []string{`{}`, `{"user_id":null,"tenant_id":null,"is_eval":null,"session_id":null,"unknown":1}`} {
		var got identity.Identity
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != anonymous || !got.Anonymous() {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	var hinted identity.Identity
	if err := json.Unmarshal([]byte(`{"user_profile_hint":"User: Ann"}`), &hinted); err != nil || hinted.UserContext != "User: Ann" {
		t.Errorf("hint: %+v, %v", hinted, err)
	}
}

func TestBadJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"user_id":7}`:        "user_id is a JSON number; write a string",
		`{"is_eval":"maybe"}`:  "is_eval is a JSON string; write true or false",
		`[]`:                   "the identity is a JSON array; write an object",
		`{"tenant_id":"_"}`:    `tenant_id is "_", which is reserved; choose another tenant`,
		`{"user_name":"a\nb"}`: "user_name holds U+000A at character 2; only printable characters are allowed",
	} {
		var id identity.Identity
		if err := json.Unmarshal([]byte(text), &id); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestValidateID(t *testing.T) {
	for id, ok := range map[string]bool{
		"": false, "x": true, strings.Repeat("é", 128): true, strings.Repeat("é", 129): false,
		"any opaque, printable / string?": true, "tab\t": false, "line\n": false, "bidi\u202e": false,
	} {
		if err := identity.ValidateID("session id", id); (err == nil) != ok {
			t.Errorf("ValidateID(%q) = %v", id, err)
		}
	}
}

func TestChildAndContext(t *testing.T) {
	parent := identity.Identity{UserID: "u1", TenantID: "acme", SessionID: "s1", AgentSchemaURI: "a", DefaultModel: "openai:gpt-4.1", IsEval: true, ClientID: "web"}
	child := parent.Child("b", "")
	if want := (identity.Identity{UserID: "u1", TenantID: "acme", SessionID: "s1", AgentSchemaURI: "b", DefaultModel: "openai:gpt-4.1", IsEval: true, ClientID: "web"}); child != want {
		t.Errorf("child %+v", child)
	}
	if got := parent.Child("", "ollama:llama3"); got.AgentSchemaURI != "a" || got.DefaultModel != "ollama:llama3" {
		t.Errorf("model override %+v", got)
	}

	ctx := t.Context()
	if _, err := identity.From(ctx); !errors.Is(err, identity.ErrMissing) {
		t.Errorf("empty context: %v", err)
	}
	outer := identity.With(ctx, parent)
	inner := identity.With(outer, child)
	for _, c := range []struct {
		ctx  context.Context
		want identity.Identity
	}{{outer, parent}, {inner, child}} {
		if got, err := identity.From(c.ctx); err != nil || got != c.want {
			t.Errorf("got %+v, %v; want %+v", got, err, c.want)
		}
	}
}
