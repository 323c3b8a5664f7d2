package outbound

import "testing"

func TestLocal(t *testing.T) {
	for host, want := range map[string][2]bool{ // certainly, by name
		"localhost": {true, true}, "LocalHost": {true, true}, "127.0.0.1": {true, false}, "127.9.8.7": {true, false}, "::1": {true, false},
		"::ffff:127.0.0.1": {true, false}, "a.localhost": {false, true}, "0.0.0.0": {false, false}, "10.0.0.1": {false, false}, "notlocalhost": {false, false},
		"localhost.example.com": {false, false}, "2130706433": {false, false}, "0x7f.1": {false, false}, "127.1": {false, false}, "": {false, false},
	} {
		if got := [2]bool{IsLoopback(host), IsLocalName(host)}; got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
