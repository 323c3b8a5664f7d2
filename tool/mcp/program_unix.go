//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// apart gives a program a process group of its own, so that what it starts ends
// with it: many servers are begun by a shell or a package manager.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends what is left of a program's group.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly nobody is left
	}
}
