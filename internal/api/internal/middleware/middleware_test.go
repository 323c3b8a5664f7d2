package middleware

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestTraceID(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for header, want := range map[string]string{
		"00-" + id + "-00f067aa0ba902b7-01":              id,
		"cc-" + id + "-00f067aa0ba902b7-01-what-will-be": id,
		"":         "",
		id:         "",
		"00-" + id: "",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01":  "",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01":  "",
		"00-4bf92f3577b34da6a3ce929d0e0e47\n6-00f067aa0ba902b7-01": "",
	} {
		if got := traceID(header); got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
	for _, c := range []struct {
		remote  string
		headers []string
		want    string
	}{
		{"192.0.2.1:99", nil, "192.0.2.1"},
		{"192.0.2.1:99", []string{"198.51.100.1"}, "192.0.2.1"},
		{"10.0.0.1:99", nil, "10.0.0.1"},
		{"10.0.0.1:99", []string{"198.51.100.1"}, "198.51.100.1"},
		{"[2001:db8::1]:99", []string{"198.51.100.1"}, "198.51.100.1"},
		{"[::ffff:10.0.0.1]:99", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.0.0.1:99", []string{"203.0.113.1, 198.51.100.1"}, "198.51.100.1"},
		{"10.0.0.1:99", []string{"203.0.113.1, 198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"10.0.0.1:99", []string{"203.0.113.1", "198.51.100.1,10.0.0.2"}, "198.51.100.1"},
		{"10.0.0.1:99", []string{"198.51.100.1, unknown"}, "10.0.0.1"},
		{"10.0.0.1:99", []string{"198.51.100.1, evil, 10.0.0.2"}, "10.0.0.2"},
		{"10.0.0.1:99", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"10.0.0.1:99", []string{"[2001:4860::1]:4711"}, "2001:4860::1"},
		{"10.0.0.1:99", []string{"[2001:4860::1]"}, "2001:4860::1"},
		{"10.0.0.1:99", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"@", []string{"198.51.100.1"}, "@"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.headers}}
		if got := (&chain{Options: Options{Proxies: proxies}}).address(r); got != c.want {
			t.Errorf("%s %q: got %s, want %s", c.remote, c.headers, got, c.want)
		}
	}
}
