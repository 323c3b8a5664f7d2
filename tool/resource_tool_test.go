package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/tool"
)

// read returns the result of a resource tool, or its error.
func read(t *testing.T, made tool.Tool, ctx context.Context, args map[string]string) string {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	res, err := made.Call(ctx, tool.Call{Arguments: raw})
	var known *tool.Error
	if errors.As(err, &known) {
		return known.Message
	}
	if err != nil {
		t.Fatal(err)
	}
	return res.Content
}

// The model never reads the values that a document fills in from the request, not even for
// a missing or empty resource or a file.
func TestResourceKeepsTheCaller(t *testing.T) {
	b := box(t, nil)
	b.Resources = &shelf{resources: map[string]string{
		"x://of/ada%40x.org/bob.png": "1", "x://of/bob%40x.org/note": "bob's", "x://of/ada%40x.org/none": "",
	}}
	got := resolved(t, b, `resources: [{uri: "x://of/{user_id}/{what}", name: of}]`)
	ada := identity.With(t.Context(), identity.Identity{UserID: "ada@x.org"})
	for what, want := range map[string]string{
		"note":    "there is no resource x://of/{user_id}/note",
		"none":    "[x://of/{user_id}/none is empty]",
		"bob.png": "[image x://of/{user_id}/bob.png image/png, 1 bytes]",
		"..":      "a uri cannot have . or .. between its slashes",
	} {
		if text := read(t, got.Tools[0], ada, map[string]string{"what": what}); text != want {
			t.Errorf("%s: %s", what, text)
		}
	}
}

// A pattern limits what is read: no URI leads out of it.
func TestResourcePatternsHold(t *testing.T) {
	b := box(t, nil)
	b.Resources = &shelf{resources: map[string]string{"file:///docs/a..b": "fine", "file:///docs/%2e": "dot", "file:///docs/../etc": "secret"}}
	got := resolved(t, b, `resources: [{uri_pattern: "file:///docs/.*", name: docs}]`)
	if text := read(t, got.Tools[0], t.Context(), map[string]string{"uri": "file:///docs/a..b"}); text != "fine" {
		t.Error(text)
	}
	for _, uri := range []string{
		"file:///docs/../etc", "file:///docs/..", "file:///docs/%2e%2E/etc", "file:///docs/..%2fetc", `file:///docs/..\etc`, "file:///docs/x/./y", "file:///docs/%2e",
	} {
		if text := read(t, got.Tools[0], t.Context(), map[string]string{"uri": uri}); !strings.Contains(text, "between its slashes") {
			t.Errorf("%s: %s", uri, text)
		}
	}
}
