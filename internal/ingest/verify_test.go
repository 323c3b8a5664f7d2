package ingest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/ingest"
)

func TestVerifyLinks(t *testing.T) {
	dir := folder(t, map[string]string{
		"README.md":  "[good](a.md) [folder](sub/) [bad](missing.md)\n",
		"a.md":       "---\nname: alpha\n---\nÄ [b](sub/b.md#x) and [gone](sub/gone.md), [web](https://x.org/y.md), [part](#p)\n\n`[code](no.md)`\n\n```\n[fence](no.md)\n```\n",
		"sub/b.md":   "[up](../a.md) [by stem](anywhere/a.md) [[alpha]] [[Nobody]] [stored](stored-key.md) [picture](../p.png)\n",
		"sub/c.md":   "[readme is no stem](readme.md) [sub](../README.md) [root](/a.md)\n",
		"p.png":      "\x89PNG",
		"notes.txt":  "[text](is-not-markdown.md)",
		".hidden.md": "[x](y.md)",
	})
	known := func(key string) bool { return key == "stored-key" }
	r, err := ingest.VerifyLinks(t.Context(), dir, ingest.VerifyOptions{Known: known})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range r.Broken {
		got = append(got, b.String())
	}
	if diff := cmp.Diff([]string{
		"README.md:1:29: missing.md leads nowhere (no file, and no key missing)",
		"a.md:4:23: sub/gone.md leads nowhere (no file, and no key gone)",
		"sub/b.md:1:50: Nobody leads nowhere (no file, and no key nobody)",
		"sub/c.md:1:1: readme.md leads nowhere (no file, and no key readme)",
	}, got); diff != "" {
		t.Error(diff)
	}
	if r.Files != 4 || r.Links != 14 {
		t.Errorf("%d files, %d links", r.Files, r.Links)
	}
	for _, bad := range []string{"verify_test.go", "nowhere"} {
		if _, err := ingest.VerifyLinks(t.Context(), bad, ingest.VerifyOptions{}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
