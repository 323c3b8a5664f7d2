package wiring

import (
	"testing"

	"github.com/p8-org/p8/internal/config"
)

func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		name   string
		env    []string
		memory int64
		files  uint64
		runs   int
		held   int64
	}{
		{"a large machine", nil, 24 << 30, 1 << 20, 10_000, 24 << 20},
		{"one gigabyte", nil, 1 << 30, 20_000, 5461, 24 << 20},
		{"a small container", nil, 128 << 20, 20_000, 682, 8 << 20},
		{"few descriptors", nil, 24 << 30, 1024, 462, 24 << 20},
		{"hardly any", nil, 8 << 20, 64, 100, 8 << 20},
		{"nothing is known", nil, 0, 0, 10_000, 24 << 20},
		{"nothing is stored", []string{"P8_DATABASE_URL=none"}, 2 << 30, 0, 10_000, 512 << 20},
		{"settings", []string{"P8_MAX_RUNS=7", "P8_RUN_MEMORY=5MB"}, 24 << 30, 1024, 7, 5 << 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := config.Load(config.Options{Environ: append(tt.env, "HOME="+t.TempDir())})
			if err != nil {
				t.Fatal(err)
			}
			if got := newLimits(cfg, tt.memory, tt.files); got.runs != tt.runs || got.memory != tt.held {
				t.Errorf("%+v, want %d runs and %d bytes", got, tt.runs, tt.held)
			}
		})
	}
}

// What Go does not count must fit beside its heap, whatever the limit.
func TestHeadroom(t *testing.T) {
	for limit, want := range map[int64]int64{
		100 << 20: 50 << 20, 512 << 20: (64 + 128) << 20, 1 << 30: 1<<30/10 + 256<<20, 20 << 30: 2<<30 + 512<<20,
	} {
		if got := headroom(limit, 512<<20); got != want {
			t.Errorf("of %d bytes: %d, want %d", limit, got, want)
		}
	}
}
