package child

import (
	"os/exec"
	"syscall"
)

// apart starts the process in a new process group. The kernel kills the process when the
// thread that starts it ends.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
