package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTenants(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"":                                  {},
		" acme = 0 4 * * * ; b=off; ":       {"acme": "0 4 * * *", "b": ""},
		"a=CRON_TZ=Europe/Vienna 0 3 * * *": {"a": "CRON_TZ=Europe/Vienna 0 3 * * *"},
		"acme":                              nil,
		"=0 4 * * *":                        nil,
		"a=":                                nil,
		"a=off;a=@daily":                    nil,
	} {
		got, ok := parseTenants(text)
		if diff := cmp.Diff(want, got); diff != "" || ok != (want != nil) {
			t.Errorf("%q: %v %s", text, ok, diff)
		}
	}
}
