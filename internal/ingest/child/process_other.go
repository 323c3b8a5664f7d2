//go:build !unix

package child

import (
	"os/exec"
	"time"
)

// cpuTime is unknown.
func cpuTime() time.Duration { return 0 }

func apart(*exec.Cmd) {}

func lower(*exec.Cmd) {}
