package child

import "syscall"

// limit sets the kernel's limits on memory and CPU time. If the kernel refuses, watch and
// the parent still bound them.
func limit(memory int64, seconds uint64) {
	if !raceEnabled { // the race detector's tables are larger than any limit
		const slack = 128 << 20 // Go's heap grows by 64 MB, and has tables of its own
		set(syscall.RLIMIT_DATA, uint64(memory)+slack)
	}
	set(syscall.RLIMIT_CPU, seconds)
	set(syscall.RLIMIT_CORE, 0)
	set(syscall.RLIMIT_FSIZE, 0)
}

func set(resource int, n uint64) {
	_ = syscall.Setrlimit(resource, &syscall.Rlimit{Cur: n, Max: n})
}
