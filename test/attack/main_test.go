// Package attack sends p8 hostile input: exploding schemas, files that never end,
// endless answers, thousands of tool calls, slow SQL. Meanwhile another client chats,
// and each of its turns must succeed.
// The server may use 1.5 GB at its peak; if the tests may make a cgroup, the kernel
// enforces it.
package attack

import (
	"os"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
