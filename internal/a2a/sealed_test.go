package a2a_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/a2a"
	"github.com/p8-org/p8/internal/seal"
	"github.com/p8-org/p8/store"
)

func ring(keys string) *seal.Ring { return seal.New(seal.Options{Keys: keys, Purpose: "test"}) }

// with returns one more server on the database, with other keys.
func (w *world) with(keys string) *a2a.Server {
	w.o.Seal = ring(keys)
	return w.another()
}

// stored returns the only webhook in the store.
func (w *world) stored() store.StoredHook {
	w.t.Helper()
	list, err := w.store.Maintenance().RunHooks(w.t.Context(), store.StoredHook{})
	if err != nil || len(list) != 1 {
		w.t.Fatalf("%v %v", list, err)
	}
	return list[0]
}

// replace puts other data into the row of a webhook.
func (w *world) replace(h store.StoredHook, data []byte) {
	w.t.Helper()
	if ok, err := w.store.Maintenance().ReplaceRunHook(w.t.Context(), h, data); !ok || err != nil {
		w.t.Fatal(ok, err)
	}
}

func (w *world) rotate(keys string) seal.Rotation {
	w.t.Helper()
	n, err := a2a.Rotate(w.t.Context(), w.store.Maintenance(), ring(keys))
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// No file of the database has the secrets of a webhook.
func TestHooksAreSealed(t *testing.T) {
	w, hook := newWorld(t), newWebhook(t)
	w.begun("wait canary-message", withHook(hook.URL+"/canary-address"))
	equal(t, "failures", w.run(), []error(nil))
	equal(t, "told", hook.states(), "[WORKING]")
	var all []byte
	files, err := os.ReadDir(w.folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(w.folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	for text, want := range map[string]bool{"canary-message": true, "canary-address": false, "t0ken": false, "s3cret": false} {
		if bytes.Contains(all, []byte(text)) != want {
			t.Errorf("%s is stored: %v", text, !want)
		}
	}
}

// A webhook that cannot be opened is one error, which names what to set and no secret; it stays
// as it is, and works with the right key.
func TestHookOfAnotherKey(t *testing.T) {
	w, hook := newWorld(t), newWebhook(t)
	right := w.Server
	task := w.begun("wait", withHook(hook.URL))
	was := w.stored()
	w.Server = w.with("two")
	failed := w.run()
	if len(failed) != 1 || !strings.Contains(failed[0].Error(), "set P8_SECRET_KEY") || !strings.Contains(failed[0].Error(), task.ID) {
		t.Errorf("%v", failed)
	}
	if got := w.call("ListTaskPushNotificationConfigs", `{"taskId":"`+task.ID+`"}`); got.Error.Code != -32603 || strings.Contains(got.Error.Message, "P8_") {
		t.Errorf("%+v", got)
	}
	n := w.rotate("two")
	equal(t, "rotated", []int{n.Sealed, n.Same, n.Failed}, []int{0, 0, 1})
	equal(t, "stored", string(w.stored().Data), string(was.Data))
	w.Server = right
	equal(t, "failures", w.run(), []error(nil))
	equal(t, "told", hook.states(), "[WORKING]")
}

// A webhook that was copied to another task, or changed, is not asked.
func TestMovedHook(t *testing.T) {
	w, hook := newWorld(t), newWebhook(t)
	w.begun("wait", withHook(hook.URL))
	first := w.stored()
	w.run()
	other := w.begun("wait", withHook("https://hooks.example.com/"))
	second, err := w.store.RunHook(identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "ann"}), other.ID, "h")
	if err != nil {
		t.Fatal(err)
	}
	at := store.StoredHook{TenantID: "acme", RunID: other.ID, ID: "h", Data: second.Data}
	var was struct{ Sealed []byte }
	if err := json.Unmarshal(second.Data, &was); err != nil || len(was.Sealed) == 0 {
		t.Fatalf("%v %s", err, second.Data)
	}
	was.Sealed[len(was.Sealed)-1] ^= 1
	changed, err := json.Marshal(map[string][]byte{"sealed": was.Sealed})
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{first.Data, changed, []byte(`{"sealed":""}`), []byte(`{"sealed":"x"}`), []byte(`[]`)} {
		w.replace(at, data)
		at.Data = data
		if failed := w.run(); len(failed) != 1 || !strings.Contains(failed[0].Error(), "cannot be opened") {
			t.Errorf("%s: %v", data, failed)
		}
		if n := w.rotate("one"); n.Same != 1 || n.Failed != 1 || n.Err == nil {
			t.Errorf("%s: %+v", data, n)
		}
	}
	equal(t, "told", hook.states(), "[WORKING]")
}

// A rotation seals what an older p8 left in plain text, and what an old key has sealed.
func TestRotate(t *testing.T) {
	w, hook := newWorld(t), newWebhook(t)
	w.begun("wait", withHook(hook.URL))
	at := w.stored()
	w.replace(at, []byte(`{"url":"`+hook.URL+`","token":"t0ken","scheme":"Bearer","credentials":"s3cret"}`))
	equal(t, "failures", w.run(), []error(nil))
	equal(t, "in plain text", hook.states(), "[WORKING]")
	told := 1
	for _, c := range []struct {
		keys, then   string
		sealed, same int
	}{{"one", "one", 1, 0}, {"one", "one", 0, 1}, {"two,one", "two", 1, 0}, {"three,two", "three", 1, 0}, {"three,two", "three", 0, 1}} {
		n := w.rotate(c.keys)
		equal(t, c.keys, []int{n.Sealed, n.Same, n.Failed, n.Older}, []int{c.sealed, c.same, 0, 0})
		if data := string(w.stored().Data); strings.Contains(data, "t0ken") || strings.Contains(data, hook.URL) {
			t.Error(data)
		}
		for _, j := range w.queue.jobs[:1] { // asked again with the one key that is left
			if err := w.with(c.then).Worker().Run(t.Context(), j.args); err != nil {
				t.Errorf("%s: %v", c.keys, err)
			}
		}
		told++
		equal(t, "token", hook.got[told-1].Header.Get("X-A2A-Notification-Token"), "t0ken")
	}
}
