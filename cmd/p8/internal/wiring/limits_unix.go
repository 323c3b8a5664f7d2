//go:build unix

package wiring

import "syscall"

// openFiles returns how many file descriptors this process may have; 0 is unknown. Go raises
// the soft limit to the hard one when a program starts.
func openFiles() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return uint64(l.Cur)
}
