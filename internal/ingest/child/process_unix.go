//go:build unix

package child

import (
	"os/exec"
	"syscall"
	"time"
)

// cpuTime returns the CPU time of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// lower lowers the priority of the process below the server's.
func lower(cmd *exec.Cmd) {
	const nice = 5
	_ = syscall.Setpriority(syscall.PRIO_PGRP, cmd.Process.Pid, nice)
}
