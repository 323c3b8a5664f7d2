package stats

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > within {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestProportion(t *testing.T) {
	for _, c := range []struct {
		passed, n       int
		low, high, rate float64
	}{ // Newcombe 1998, and limits
		{81, 263, 0.2553, 0.3662, 0.3080}, {15, 148, 0.0624, 0.1605, 0.1014}, {0, 20, 0, 0.1611, 0}, {1, 29, 0.0061, 0.1718, 0.0345}, {20, 20, 0.8389, 1, 1}, {0, 0, 0, 1, 0},
	} {
		got := Proportion(c.passed, c.n)
		near(t, "rate", got.Value, c.rate, 1e-4)
		near(t, "low", got.Low, c.low, 1e-4)
		near(t, "high", got.High, c.high, 1e-4)
	}
}

func TestMean(t *testing.T) {
	var values []float64
	for i := range 400 {
		values = append(values, float64(i%2))
	}
	got := Mean(values)
	near(t, "mean", got.Value, 0.5, 0)
	near(t, "low", got.Low, 0.5-1.96*0.025, 0.006) // the normal approximation
	near(t, "high", got.High, 0.5+1.96*0.025, 0.006)
	if again := Mean(values); again != got {
		t.Errorf("%v is not %v", again, got)
	}
	for _, c := range [][]float64{nil, {0.3}, {0.5, 0.5, 0.5}} {
		if got := Mean(c); got.Low != got.Value || got.High != got.Value || got.N != len(c) {
			t.Errorf("%v: %+v", c, got)
		}
	}
}

func TestPass(t *testing.T) {
	for _, c := range []struct {
		n, passed, k int
		at, all      float64
	}{
		{5, 5, 3, 1, 1}, {5, 0, 3, 0, 0}, {4, 2, 1, 0.5, 0.5}, {4, 2, 2, 1 - 1.0/6, 1.0 / 6}, {4, 2, 3, 1, 0}, {3, 3, 4, 0, 0}, {3, 1, 0, 0, 0},
	} {
		near(t, "pass@k", PassAt(c.n, c.passed, c.k), c.at, 1e-12)
		near(t, "pass^k", PassAll(c.n, c.passed, c.k), c.all, 1e-12)
	}
}

func TestPaired(t *testing.T) {
	repeat := func(n int, p Pair) (list []Pair) {
		for range n {
			list = append(list, p)
		}
		return list
	}
	same, better, worse := Pair{1, 1}, Pair{0, 1}, Pair{1, 0}
	for _, c := range []struct {
		name  string
		pairs []Pair
		test  string
		p     float64
		delta float64
	}{
		{"nothing", nil, McNemar, 1, 0},
		{"no change", repeat(9, same), McNemar, 1, 0},
		{"one better", append(repeat(9, same), better), McNemar, 1, 0.1},
		{"ten better, two worse", append(repeat(10, better), repeat(2, worse)...), McNemar, 2 * 79.0 / 4096, 8.0 / 12},
		{"balanced", append(repeat(5, better), repeat(5, worse)...), McNemar, 1, 0},
		{"scores all better", repeat(8, Pair{0.25, 0.75}), SignFlip, 2.0 / 256, 0.5},
		{"many scores", append(repeat(60, Pair{0.25, 0.5}), repeat(40, Pair{0.5, 0.5})...), SignFlip, 1.0 / 10001, 0.15},
	} {
		got := Paired(c.pairs)
		near(t, c.name+": p", got.P, c.p, 1e-9)
		near(t, c.name+": delta", got.Delta.Value, c.delta, 1e-9)
		if got.Test != c.test || got.Cases != len(c.pairs) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if p := signTest(500_000, 500_100); math.IsNaN(p) || p < 0.5 {
		t.Errorf("a million cases: %v", p)
	}
}

func TestQuantile(t *testing.T) {
	for q, want := range map[float64]float64{0: 1, 0.5: 2.5, 1: 4, 0.95: 3.85} {
		near(t, "quantile", Quantile([]float64{1, 2, 3, 4}, q), want, 1e-12)
	}
	near(t, "of nothing", Quantile(nil, 0.5), 0, 0)
}
