// Package attack sends p8 what an attacker and a bad day would: schemas that
// explode, files that never end, endless answers, thousands of tool calls, slow
// SQL. Meanwhile another client chats, and every one of its turns must succeed.
// The server may use 1.5 GB at its peak: where the tests may make a cgroup, the
// kernel holds it to that.
package attack

import (
	"os"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
