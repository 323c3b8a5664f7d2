//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// apart puts a program into its own process group, so that its children end with it:
// many servers are started by a shell or a package manager.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup kills the rest of a program's group.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // usually the group is empty
	}
}
