package rem

import "testing"

// FuzzMessageRef: what is read is printed as it was, and no text breaks the reader.
func FuzzMessageRef(f *testing.F) {
	for _, key := range []string{
		"session-s-msg-1", "session-a-msg-2-msg-3", "session-s-msg-1-part-2", "session--msg-1", "session-s-msg-0", "session-s-msg-+1",
		"message-0198c0de-0000-7000-8000-000000000001", "message-0198c0de-0000-7000-8000-000000000001-part-7", "message-x",
		"session-a-part-2-msg-1", "session-a-msg-9223372036854775808", "-part-1", "session-日本, x-msg-12-part-99999999999", "",
	} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		ref, ok := parseMessageRef(key)
		if !ok {
			return
		}
		printed := ref.key()
		if ref.part > 0 {
			printed = PartKey(printed, ref.part)
		}
		if printed != key {
			t.Errorf("%q was read as %q", key, printed)
		}
	})
}

func TestEveryKeyIsRead(t *testing.T) {
	for _, session := range []string{"s", "a-part-2", "a-msg-3", "a-msg-3-part-4", "message-x", "session-b-msg-1", "日本, x"} {
		key := MessageKey(session, 12)
		if ref, ok := parseMessageRef(key); !ok || ref != (messageRef{sessionID: session, seq: 12}) {
			t.Errorf("%s was read as %+v, %v", key, ref, ok)
		}
		if ref, ok := parseMessageRef(PartKey(key, 3)); !ok || ref != (messageRef{sessionID: session, seq: 12, part: 3}) {
			t.Errorf("part 3 of %s was read as %+v, %v", key, ref, ok)
		}
	}
}
