//go:build unix && !linux

package child

import (
	"os/exec"
	"syscall"
)

// apart starts the process in a new process group.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
