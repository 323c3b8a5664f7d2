// Package stats has the statistics of an evaluation: confidence intervals, pass@k and pass^k,
// and paired tests. Everything is deterministic: the same numbers give the same result.
package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// The names of the methods, as reports print them.
const (
	Wilson    = "Wilson score interval, 95 %"
	Bootstrap = "percentile bootstrap over cases, 95 %"
	McNemar   = "exact McNemar test"
	SignFlip  = "paired sign-flip permutation test"
)

// Interval is a value with its confidence interval.
type Interval struct {
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	N      int     `json:"n"`
	Method string  `json:"method"`
}

// z is the quantile of the normal distribution for 95 %.
const z = 1.959963984540054

// Proportion returns the share of successes with its Wilson interval. Without a try it is 0,
// between 0 and 1.
func Proportion(successes, tries int) Interval {
	if tries == 0 {
		return Interval{High: 1, Method: Wilson}
	}
	n, p := float64(tries), float64(successes)/float64(tries)
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return Interval{p, max(0, middle-half), min(1, middle+half), tries, Wilson}
}

// The number of resamples, bounded so that 100,000 cases take about a second.
const (
	resamples = 2000
	maxDraws  = 50_000_000
)

// source returns a random source that is the same for every call.
func source() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// rounds returns how often n values are resampled.
func rounds(n int) int { return max(200, min(resamples, maxDraws/max(n, 1))) }

// Mean returns the mean of values, one a case, with its bootstrap interval. The repeats of one
// case are not independent: average them first.
func Mean(values []float64) Interval {
	n := len(values)
	i := Interval{N: n, Method: Bootstrap}
	if n == 0 {
		return i
	}
	i.Value = mean(values)
	i.Low, i.High = i.Value, i.Value
	if n == 1 || slices.Min(values) == slices.Max(values) {
		return i
	}
	random := source()
	means := make([]float64, rounds(n))
	for k := range means {
		sum := 0.0
		for range n {
			sum += values[random.IntN(n)]
		}
		means[k] = sum / float64(n)
	}
	slices.Sort(means)
	i.Low, i.High = Quantile(means, 0.025), Quantile(means, 0.975)
	return i
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(len(values), 1))
}

// Quantile returns a quantile of sorted values, 0 for none.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// PassAt returns the chance that at least one of k tries passes (pass@k), estimated from n
// tries of which c passed.
func PassAt(n, c, k int) float64 {
	if k < 1 || k > n {
		return 0
	}
	fail := 1.0 // C(n-c, k) / C(n, k)
	for i := range k {
		fail *= float64(max(n-c-i, 0)) / float64(n-i)
	}
	return 1 - fail
}

// PassAll returns the chance that all of k tries pass (pass^k), estimated from n tries of
// which c passed.
func PassAll(n, c, k int) float64 {
	if k < 1 || k > n {
		return 0
	}
	all := 1.0 // C(c, k) / C(n, k)
	for i := range k {
		all *= float64(max(c-i, 0)) / float64(n-i)
	}
	return all
}

// Pair is a case's value before and after.
type Pair struct{ Before, After float64 }

// Change is what a paired test says of a change.
type Change struct {
	Cases  int `json:"cases"`
	Better int `json:"better"`
	Worse  int `json:"worse"`
	// Delta is the mean of the differences, with its interval.
	Delta Interval `json:"delta"`
	// P is the chance of a difference as large as this one without a change.
	P    float64 `json:"p"`
	Test string  `json:"test"`
}

// Significant reports whether the change is unlikely to be chance (P < 0.05).
func (c Change) Significant() bool { return c.Cases > 0 && c.P < 0.05 }

// same is the difference below which two values are one.
const same = 1e-9

// Paired compares the values of the same cases. Values that are all 0 or 1 get the exact
// McNemar test, others a permutation test.
func Paired(pairs []Pair) Change {
	c := Change{Cases: len(pairs), P: 1}
	differences := make([]float64, len(pairs))
	binary := true
	for i, p := range pairs {
		differences[i] = p.After - p.Before
		switch {
		case differences[i] > same:
			c.Better++
		case differences[i] < -same:
			c.Worse++
		}
		binary = binary && (p.Before == 0 || p.Before == 1) && (p.After == 0 || p.After == 1)
	}
	c.Delta = Mean(differences)
	if c.Test = SignFlip; binary {
		c.Test, c.P = McNemar, signTest(c.Better, c.Worse)
		return c
	}
	c.P = flips(differences)
	return c
}

// signTest returns the two-sided chance of a split as uneven as a to b, if both are as likely.
func signTest(a, b int) float64 {
	n, least := a+b, min(a, b)
	if n == 0 {
		return 1
	}
	logN, _ := math.Lgamma(float64(n + 1))
	p := 0.0
	for k := 0; k <= least; k++ {
		logK, _ := math.Lgamma(float64(k + 1))
		rest, _ := math.Lgamma(float64(n - k + 1))
		p += math.Exp(logN - logK - rest - float64(n)*math.Ln2)
	}
	return min(1, 2*p)
}

// exact is the number of differences up to which all signs are tried.
const exact = 14

// flips returns the share of sign changes whose sum is as far from 0 as that of the differences.
func flips(differences []float64) float64 {
	moved := slices.DeleteFunc(slices.Clone(differences), func(d float64) bool { return math.Abs(d) <= same })
	n := len(moved)
	if n == 0 {
		return 1
	}
	observed := 0.0
	for _, d := range moved {
		observed += d
	}
	observed = math.Abs(observed) - same
	far := func(bits func(i int) bool) bool {
		sum := 0.0
		for i, d := range moved {
			if bits(i) {
				d = -d
			}
			sum += d
		}
		return math.Abs(sum) >= observed
	}
	count := 0
	if n <= exact {
		for mask := range 1 << n {
			if far(func(i int) bool { return mask>>i&1 == 1 }) {
				count++
			}
		}
		return float64(count) / float64(int(1)<<n)
	}
	random, tries := source(), max(1000, min(10_000, maxDraws/n))
	for range tries {
		var word uint64
		if far(func(i int) bool {
			if i%64 == 0 {
				word = random.Uint64()
			}
			return word>>(i%64)&1 == 1
		}) {
			count++
		}
	}
	return float64(count+1) / float64(tries+1)
}
