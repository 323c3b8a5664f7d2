package config

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90d": 90 * 24 * time.Hour, " 1d ": 24 * time.Hour, "36h": 36 * time.Hour, "0": 0, "0d": 0, "106751d": 106751 * 24 * time.Hour,
		"": -1, "d": -1, "-1d": -1, "1.5d": -1, "106752d": -1, "-1h": -1, "tomorrow": -1, "9999999999999999999d": -1,
	} {
		var s Span
		switch err := s.UnmarshalText([]byte(text)); {
		case want < 0 && err == nil:
			t.Errorf("%q is %v", text, time.Duration(s))
		case want >= 0 && (err != nil || time.Duration(s) != want):
			t.Errorf("%q is %v, %v", text, time.Duration(s), err)
		}
	}
}

func TestMilliseconds(t *testing.T) {
	for text, want := range map[string]time.Duration{"10000": 10 * time.Second, "250ms": 250 * time.Millisecond, " 2m ": 2 * time.Minute} {
		var m Milliseconds
		if err := m.UnmarshalText([]byte(text)); err != nil || time.Duration(m) != want {
			t.Errorf("%q is %s, %v", text, time.Duration(m), err)
		}
	}
	for _, text := range []string{"", "soon", "10 apples"} {
		if new(Milliseconds).UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
