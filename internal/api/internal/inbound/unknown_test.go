package inbound

import (
	"reflect"
	"slices"
	"testing"
)

// TestKnown: what is known at a glance are fields of the body.
func TestKnown(t *testing.T) {
	names := fields(reflect.TypeFor[Completion]())
	if len(names) < 35 {
		t.Errorf("%d fields", len(names))
	}
	for _, name := range []string{"model", "seed", "store"} {
		if !known([]byte(name)) || !slices.Contains(names, name) {
			t.Error(name)
		}
	}
	if known([]byte("top_k")) || slices.Contains(names, "top_k") {
		t.Error("top_k")
	}
}

func TestKeys(t *testing.T) {
	var got []string
	for key := range keys([]byte(" {\"a\" : {\"x\":[1,\"y\"]}, \"b,\\\"c\":\"d\",\n\"e\":[{\"z\":1},\"w\"],\"f\":\"{\",\"g\":true}")) {
		got = append(got, string(key))
	}
	if want := []string{"a", `b,\"c`, "e", "f", "g"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for range keys([]byte(`{}`)) {
		t.Error("a key of an empty object")
	}
}
