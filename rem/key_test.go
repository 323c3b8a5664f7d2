package rem_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// talk is a store that has messages, and a resource with the key of a part.
type talk struct {
	knowledge
	messages []store.Message
}

func (k *talk) MessageBySeq(_ context.Context, sessionID string, seq int64) (store.Message, error) {
	for _, m := range k.messages {
		if m.SessionID == sessionID && m.Seq == seq {
			return m, nil
		}
	}
	return store.Message{}, store.ErrNotFound
}

func (k *talk) Message(_ context.Context, id string) (store.Message, error) {
	for _, m := range k.messages {
		if m.ID == id {
			return m, nil
		}
	}
	return store.Message{}, store.ErrNotFound
}

func (k *talk) Lookup(_ context.Context, key string) ([]store.Match, error) {
	if key == "session-s-msg-9-part-1" {
		return []store.Match{{Key: key, Type: "moment", Score: 1}}, nil
	}
	return nil, nil
}

const messageID = "0198c0de-0000-7000-8000-000000000001"

func said(session string, seq int64, text string) store.Message {
	return store.Message{SessionID: session, Seq: seq, Type: store.MessageAssistant, Content: &text, Metadata: json.RawMessage(`{"x":1}`)}
}

func TestLookupOfMessages(t *testing.T) {
	long := strings.Repeat("é", rem.PartChars) + strings.Repeat("b", rem.PartChars) + "end"
	byID := said("s", 1, long)
	byID.ID, byID.Parts, byID.Metadata = messageID, json.RawMessage(`[{"kind":"image"}]`), nil
	exact, foreign := said("s", 6, strings.Repeat("c", rem.PartChars)), said("s", 7, long)
	foreign.Metadata = json.RawMessage(`[7]`)
	call := store.Message{SessionID: "s", Seq: 8, Type: store.MessageToolCall}
	e := rem.New(rem.Options{Knowledge: &talk{messages: []store.Message{
		byID, said("a-part-2", 2, "the session ends in a part"), said("a-msg-3", 4, "in a message"),
		said("a-msg-3-part-2", 5, long), said("a, b", 5, "commas"), exact, foreign, call,
	}}})
	for _, tc := range []struct{ key, content, metadata string }{
		{"session-s-msg-1", long, ""},
		{"session-s-msg-1-part-1", strings.Repeat("é", rem.PartChars), `{"part":1,"parts":3,"next":"session-s-msg-1-part-2"}`},
		{"session-s-msg-1-part-2", strings.Repeat("b", rem.PartChars), `{"part":2,"parts":3,"next":"session-s-msg-1-part-3"}`},
		{"session-s-msg-1-part-3", "end", `{"part":3,"parts":3}`},
		{"session-s-msg-1-part-4", "", ""},
		{"session-s-msg-1-part-0", "", ""},
		{"session-s-msg-2", "", ""},
		{"message-" + messageID, long, ""},
		{"message-" + messageID + "-part-2", strings.Repeat("b", rem.PartChars), `{"part":2,"parts":3,"next":"message-` + messageID + `-part-3"}`},
		{"message-" + strings.Replace(messageID, "1", "2", 1), "", ""},
		{"message-board", "", ""},
		{"session-a-part-2-msg-2", "the session ends in a part", `{"x":1}`},
		{"session-a-part-2-msg-2-part-1", "the session ends in a part", `{"part":1,"parts":1,"x":1}`},
		{"session-a-msg-3-msg-4", "in a message", `{"x":1}`},
		{"session-a-msg-3-part-2-msg-5", long, `{"x":1}`},
		{"session-a-msg-3-part-2-msg-5-part-3", "end", `{"part":3,"parts":3,"x":1}`},
		{"session-a, b-msg-5", "commas", `{"x":1}`},
		{"session-s-msg-6-part-1", strings.Repeat("c", rem.PartChars), `{"part":1,"parts":1,"x":1}`},
		{"session-s-msg-6-part-2", "", ""},
		{"session-s-msg-7-part-3", "end", `{"part":3,"parts":3}`},
		{"session-s-msg-8-part-1", "", ""},
	} {
		t.Run(tc.key, func(t *testing.T) {
			res, err := e.Execute(t.Context(), rem.Lookup{Keys: []string{tc.key}})
			if err != nil {
				t.Fatal(err)
			}
			if tc.content == "" {
				if len(res.Results) > 0 || len(res.Missing) != 1 {
					t.Errorf("got %d rows", len(res.Results))
				}
				return
			}
			if len(res.Results) != 1 || res.Results[0].Key != tc.key || res.Results[0].EntityType != rem.EntityMessage {
				t.Fatalf("got %+v", res.Results)
			}
			var got struct {
				Content  string          `json:"content"`
				Metadata json.RawMessage `json:"metadata"`
				Parts    json.RawMessage `json:"parts"`
			}
			if err := json.Unmarshal(res.Results[0].Data, &got); err != nil {
				t.Fatal(err)
			}
			if got.Content != tc.content || got.Parts != nil {
				t.Errorf("got %d bytes, with parts %.20s", len(got.Content), got.Parts)
			}
			var want, have any
			_ = json.Unmarshal([]byte(tc.metadata), &want)
			_ = json.Unmarshal(got.Metadata, &have)
			if diff := cmp.Diff(want, have); diff != "" {
				t.Error(diff)
			}
		})
	}
	// What is no message may still be something else's key.
	res, err := e.Execute(t.Context(), rem.Lookup{Keys: []string{"session-s-msg-9-part-1"}})
	if err != nil || len(res.Results) != 1 || res.Results[0].EntityType != "moment" {
		t.Errorf("got %+v, %v", res, err)
	}
}
