package config

import (
	"maps"
	"strings"
	"testing"
	"time"
)

func TestRetention(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]map[string]time.Duration{
		"":                             {},
		"sessions=365d, moments=never": {"sessions": 365 * day},
		"resources=36h,feedback=1d,":   {"resources": 36 * time.Hour, "feedback": day},
	} {
		if got, err := ParseRetention(text); err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"session=1d": "none of sessions, moments", "sessions": `""`, "sessions=30": "no time of a day or more", "sessions=1h": "no time of a day or more",
		"sessions=0": "no time", "audit=1d": "P8_AUDIT_KEEP", "sessions=1d,sessions=never": "sessions twice", "sessions=-5d": "no time", "=1d": "none of",
	} {
		if got, err := ParseRetention(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"never", "30d", "36h0m0s"} {
		if d, err := ParseKeep(text); err != nil || KeepText(d) != text {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
}
