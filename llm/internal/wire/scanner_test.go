package wire

import "testing"

func TestScannerInt(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, " 42}": 42, "999999999,": 999999999,
		"": -1, "x": -1, "-1": -1, "01": -1, "1.5": -1, "1e3": -1, "1000000000": -1, `"1"`: -1,
	} {
		s := Scan([]byte(text))
		got := s.Int()
		if s.Bad() {
			got = -1
		}
		if got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestScannerKeysWithCapitals(t *testing.T) {
	const text = `{"aB":1}`
	s := Scan([]byte(text))
	s.Open('{')
	if key, more := s.AnyKey(true); !more || string(key) != "aB" || s.Int() != 1 {
		t.Errorf("AnyKey: %q %t", key, more)
	}
	s = Scan([]byte(text))
	s.Open('{')
	if _, more := s.Key(true); more || !s.Bad() {
		t.Error("Key takes a capital")
	}
	// What is skipped may have any keys.
	s = Scan([]byte(text))
	if s.Skip(); !s.Done() {
		t.Error("Skip does not take a capital")
	}
}
