//go:build !race

package harness

// raceEnabled says that the tests run with the race detector.
const raceEnabled = false
