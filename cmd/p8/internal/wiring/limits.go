package wiring

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/p8-org/p8/internal/config"
)

// limits bound the runs of this process.
type limits struct {
	// runs is how many runs may be active, memory how many bytes they may hold together.
	runs int
	// conns is how many connections may be open.
	conns  int
	memory int64
}

const (
	// runCost is the memory of an open stream in bytes, runFiles its file descriptors: the
	// connections to the client and to the provider. ownFiles are left for everything else.
	runCost  = 96 << 10
	runFiles = 2
	ownFiles = 100
	// fewestRuns and mostRuns bound the default of P8_MAX_RUNS.
	fewestRuns, mostRuns = 100, 10_000
	// unknownMemory is assumed if the limit cannot be read.
	unknownMemory = 2 << 30
)

// newLimits returns the settings, with defaults for those that are 0. memory is the bytes
// that the process may use, files its file descriptors; 0 is unknown.
func newLimits(cfg *config.Config, memory int64, files uint64) limits {
	if memory <= 0 {
		memory = unknownMemory
	}
	l := limits{runs: cfg.MaxRuns, memory: int64(cfg.RunMemory)}
	if l.runs == 0 {
		// Half of the memory is left for the content of the streams and for everything else.
		most := memory / 2 / runCost
		if files > 0 {
			most = min(most, (int64(min(files, math.MaxInt32))-ownFiles)/runFiles)
		}
		l.runs = int(min(max(most, fewestRuns), mostRuns))
	}
	if l.conns = cfg.MaxConnections; l.conns == 0 {
		l.conns = max(1000, 2*l.runs) // others read, or wait
		if files > 0 {
			l.conns = max(fewestRuns, min(l.conns, int(min(files, math.MaxInt32))-ownFiles-l.runs))
		}
	}
	if l.memory == 0 {
		l.memory = min(max(memory/32, 8<<20), 24<<20)
		if cfg.Database().None {
			// The logs of the runs are in memory too.
			l.memory = min(max(memory/4, 32<<20), 1<<30)
		}
	}
	return l
}

// boundMemory sets the limit of Go's garbage collector from the memory that the process
// may use, and returns that in bytes; 0 is unknown. GOMEMLIMIT takes precedence.
func boundMemory(cfg *config.Config, log *slog.Logger) int64 {
	limit, source := config.Memory(os.DirFS("/"))
	if own := debug.SetMemoryLimit(-1); own < math.MaxInt64 {
		log.Info("memory limit", "bytes", own, "source", "GOMEMLIMIT")
		return own
	}
	if limit == 0 {
		log.Info("memory limit", "source", "none is known: set GOMEMLIMIT")
		return 0
	}
	heap := limit - headroom(limit, int64(cfg.ExtractMemory)*int64(cfg.ExtractProcesses))
	debug.SetMemoryLimit(heap)
	log.Info("memory limit", "bytes", heap, "source", source, "of", limit)
	return limit
}

// headroom returns the memory that Go's limit does not cover, in bytes: the program, the
// database's mapped files, and the child processes that parse files, which use at most
// children. At least half of the limit is left to Go.
func headroom(limit, children int64) int64 {
	return min(max(limit/10, 64<<20), limit/4) + min(children, limit/4)
}
