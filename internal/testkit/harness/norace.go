//go:build !race

package harness

// raceEnabled reports whether the tests run with the race detector.
const raceEnabled = false
