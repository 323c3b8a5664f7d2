//go:build unix && !linux

package child

import (
	"os/exec"
	"syscall"
)

// apart gives the process a group of its own.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
