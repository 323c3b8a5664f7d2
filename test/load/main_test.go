// Package load_test runs the real binary with its documented number of streams against a
// model provider on loopback, and checks its memory bounds.
//
// The full counts run with P8_TEST_LONG=1; without it the same tests run with a few
// streams, so that they cannot rot.
package load_test

import (
	"os"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
