package rem

import (
	"context"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/p8-org/p8/store"
)

// message returns the message that a key names, or nothing.
func (e *Engine) message(ctx context.Context, key string) ([]Row, error) {
	ref, ok := parseMessageRef(key)
	if !ok {
		return nil, nil
	}
	m, err := e.readMessage(ctx, ref)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if ref.part > 0 {
		if ok, err := cutToPart(&m, ref); !ok || err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(m)
	return []Row{{Key: key, EntityType: EntityMessage, Score: 1, Data: data}}, err
}

// readMessage returns a stored message without its images.
func (e *Engine) readMessage(ctx context.Context, ref messageRef) (m store.Message, err error) {
	if ref.id != "" {
		m, err = e.Knowledge.Message(ctx, ref.id)
	} else {
		m, err = e.Knowledge.MessageBySeq(ctx, ref.sessionID, ref.seq)
	}
	m.Parts = nil
	return m, err
}

// cutToPart replaces a message's text by one part of it, and adds the part's number and
// the key of the next part to its metadata. It returns false if there is no such part.
func cutToPart(m *store.Message, ref messageRef) (bool, error) {
	if m.Content == nil {
		return false, nil
	}
	text := *m.Content
	parts := (utf8.RuneCountInString(text) + PartChars - 1) / PartChars
	if ref.part > parts {
		return false, nil
	}
	text = text[offset(text, (ref.part-1)*PartChars):]
	text = text[:offset(text, PartChars)]
	m.Content = &text

	var err error
	m.Metadata, err = withPart(m.Metadata, ref, parts)
	return true, err
}

// withPart returns the metadata of a message with those of a part of it.
func withPart(metadata json.RawMessage, ref messageRef, parts int) (json.RawMessage, error) {
	part := struct {
		Part  int    `json:"part"`
		Parts int    `json:"parts"`
		Next  string `json:"next,omitempty"`
	}{ref.part, parts, ""}
	if ref.part < parts {
		part.Next = PartKey(ref.key(), ref.part+1)
	}
	add, err := json.Marshal(part)
	if err != nil {
		return nil, err
	}
	if merged, _, err := store.MergeObjects(metadata, add); err == nil {
		return merged, nil
	}
	return add, nil // what other programs stored is no object
}

// key returns the key of the message.
func (r messageRef) key() string {
	if r.id != "" {
		return MessageIDKey(r.id)
	}
	return MessageKey(r.sessionID, r.seq)
}

// offset returns where the character of a number begins, in bytes, or the end of the text.
func offset(text string, chars int) int {
	at := 0
	for range chars {
		if at >= len(text) {
			break
		}
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
	return at
}
