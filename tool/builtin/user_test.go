package builtin_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

type profile struct {
	UserID   string `json:"user_id"`
	Name     string
	Content  string
	Metadata map[string]any
}

func TestUserProfile(t *testing.T) {
	k := newKit(t)
	ctx := as(t, "ann")
	var p profile
	// Without a stored profile, the request's data count.
	if k.ok(t, ctx, "get_user_profile", `{}`, &p); p.UserID != "ann" || p.Name != "ANN" || p.Metadata == nil {
		t.Errorf("%+v", p)
	}
	var changed struct {
		Status    string
		UserID    string `json:"user_id"`
		Metadata  map[string]any
		Interests []string
	}
	k.ok(t, ctx, "update_user_metadata", `{"metadata":{"likes":["tea"],"facts":{"city":"Bonn"}}}`, &changed)
	k.ok(t, ctx, "update_user_metadata", `{"metadata":{"likes":["rum","Tea"],"n":12345678901234567890,"interests":["chess"]},"remove_keys":["facts","none"]}`, &changed)
	if changed.Status != "ok" || changed.UserID != "ann" || len(changed.Metadata["likes"].([]any)) != 2 || !slices.Equal(changed.Interests, []string{"chess"}) {
		t.Errorf("%+v", changed)
	}
	k.ok(t, ctx, "update_user_metadata", `{"remove_items":{"likes":["TEA"],"interests":"chess"}}`, &changed)
	u, err := k.Store.Users().Get(ctx)
	must(t, err)
	if string(u.Metadata) != `{"interests":[],"likes":["rum"],"n":12345678901234567890}` || len(u.Interests) != 0 {
		t.Errorf("stored %s, %q", u.Metadata, u.Interests)
	}
	must(t, k.Store.Users().Put(ctx, &store.User{Name: "Ann", Content: "Drinks rum.", Interests: []string{"rum"}, Metadata: u.Metadata}))
	if res := k.ok(t, ctx, "get_user_profile", `{}`, &p); p.Name != "Ann" || p.Content != "Drinks rum." || !strings.Contains(res.Content, `"interests":["rum"],"preferred_topics":[]`) {
		t.Errorf("%s", res.Content)
	}
	// Bob is another user.
	var bob profile
	if k.ok(t, as(t, "bob"), "get_user_profile", `{}`, &bob); bob.UserID != "bob" || len(bob.Metadata) != 0 {
		t.Errorf("%+v", bob)
	}
}

func TestUserFails(t *testing.T) {
	k := newKit(t)
	nobody, ann := as(t, ""), as(t, "ann")
	k.fails(t, nobody, "get_user_profile", `{}`, "the caller is anonymous")
	k.fails(t, nobody, "update_user_metadata", `{"metadata":{"a":1}}`, "the caller is anonymous")
	k.fails(t, ann, "update_user_metadata", `{}`, "there is nothing to change")
	k.fails(t, ann, "update_user_metadata", `{"metadata":[1]}`, "metadata: got array, want object")
	k.fails(t, ann, "update_user_metadata", `{"metadata":{"a":1},"user_id":"bob"}`, "user_id")
	k.fails(t, ann, "update_user_metadata", `{"metadata":{"a":"`+strings.Repeat("x", 70_000)+`"}}`, "at most 65536 are taken")
	keys, _ := json.Marshal(strings.Split(strings.Repeat("k,", 100)+"k", ","))
	k.fails(t, ann, "update_user_metadata", `{"remove_keys":`+string(keys)+`}`, "has 101 keys; at most 100")
	if _, err := k.use(t, t.Context(), "get_user_profile", `{}`); err != identity.ErrMissing {
		t.Errorf("without an identity: %v", err)
	}
	k.ReadOnly = true
	k.fails(t, ann, "update_user_metadata", `{"metadata":{"a":1}}`, "nothing is stored in this configuration")
	k.Store = nil
	k.fails(t, ann, "update_user_metadata", `{"metadata":{"a":1}}`, "nothing is stored in this configuration")
	if k.ok(t, ann, "get_user_profile", `{}`, new(profile)).Failed {
		t.Error("no profile without a store")
	}
}
