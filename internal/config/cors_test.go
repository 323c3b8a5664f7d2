package config

import (
	"errors"
	"strings"
	"testing"
)

// TestCORSOrigins: exact origins, or * alone.
func TestCORSOrigins(t *testing.T) {
	for value, good := range map[string]bool{
		"*": true, "https://app.example.com": true, "http://localhost:5173, https://app.example.com": true,
		"app.example.com": false, "https://app.example.com/": false, "https://a.example,*": false, "https://*.example.com": false, "https://a.example,,https://b.example": false,
	} {
		_, err := load(t, "", nil, "P8_CORS_ORIGINS="+value)
		var e *Error
		switch {
		case good && err != nil:
			t.Errorf("%s: %v", value, err)
		case !good && (!errors.As(err, &e) || e.Name != "P8_CORS_ORIGINS" || !strings.Contains(err.Error(), "https://app.example.com separated by commas, or * alone")):
			t.Errorf("%s: %v", value, err)
		}
	}
}
