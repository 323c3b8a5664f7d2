package child

import (
	"os/exec"
	"syscall"
)

// apart gives the process a group of its own, and lets it die with the thread that
// starts it.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
