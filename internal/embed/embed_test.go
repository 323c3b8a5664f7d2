package embed_test

import (
	"errors"
	"io"
	"math"
	"testing"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/outbound"
)

func TestNormalise(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	tests := []struct {
		name string
		in   []float32
		want []float32 // nil: refused
	}{
		{"plain", []float32{3, 0, -4}, []float32{0.6, 0, -0.8}},
		{"tiny", []float32{1e-30, 0}, []float32{1, 0}},
		{"huge", []float32{3e38, 0}, []float32{1, 0}},
		{"zero", []float32{0, 0}, nil},
		{"empty", nil, nil},
		{"not a number", []float32{1, nan}, nil},
		{"infinite", []float32{1, inf}, nil},
	}
	for _, test := range tests {
		if ok := embed.Normalise(test.in); ok != (test.want != nil) {
			t.Errorf("%s: %v", test.name, ok)
			continue
		}
		for i := range test.want {
			if math.Abs(float64(test.in[i]-test.want[i])) > 1e-6 {
				t.Errorf("%s: %v, want %v", test.name, test.in, test.want)
			}
		}
	}
}

func TestErrorHidesTheCause(t *testing.T) {
	err := &embed.Error{Kind: outbound.Auth, Model: "openai:m", Status: 401, Hint: "check the API key", Err: io.ErrUnexpectedEOF}
	if got, want := err.Error(), "the embedding model openai:m refused the API key (status 401): check the API key"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
}
