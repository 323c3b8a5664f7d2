package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/golden"
)

//go:generate go test -run TestPayloads -update .

// TestPayloads captures what a model is sent for a conversational and for a
// structured agent, the latter in both modes. go generate ./cmd/p8 rewrites the
// files.
func TestPayloads(t *testing.T) {
	for _, tt := range []struct{ file, agent, mode, input string }{
		{"unstructured", "general", "", "What did we decide about the release?"},
		{"structured", "dreaming-agent", "native", "Session trip: we leave on Friday and take the train."},
		{"structured-tool", "dreaming-agent", "tool", "Session trip: we leave on Friday and take the train."},
	} {
		t.Run(tt.file, func(t *testing.T) {
			server := newProvider(t)
			a, cfg := testApp(t, io.Discard, io.Discard, append(useProvider(server, "openai:gpt-4.1"), "P8_STRUCTURED_MODE="+tt.mode)...)
			ids := 0
			p := testParts(t, a, cfg, wiring.Options{
				Now: func() time.Time { return time.Date(2026, 2, 21, 14, 30, 0, 0, time.UTC) },
				NewID: func() string {
					ids++
					return fmt.Sprintf("00000000-0000-4000-8000-%012d", ids)
				},
			})
			ctx := identity.With(t.Context(), identity.Identity{
				UserID: identity.UserID("alice@example.com"), Email: "alice@example.com", Name: "Alice", SessionID: "sess-123",
			})
			turn, err := p.Chat.Start(ctx, chat.Request{Agent: tt.agent, Input: tt.input})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := turn.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			var payload bytes.Buffer
			if err := json.Indent(&payload, server.requests()[0], "", "  "); err != nil {
				t.Fatal(err)
			}
			payload.WriteByte('\n')
			golden.Compare(t, filepath.Join("../../testdata/payloads", tt.file+".json"), payload.String())
		})
	}
}
