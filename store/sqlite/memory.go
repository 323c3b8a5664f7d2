package sqlite

import (
	"crypto/rand"
	"strings"

	"github.com/ncruces/go-sqlite3/vfs/mvcc"
)

// memoryPath begins the paths of databases in memory: no file has such a name.
const memoryPath = "/\x00p8-memory-"

// newMemory makes a copy of a database in memory, which lasts until dropMemory; the
// zero snapshot is an empty one. It has no write-ahead log: readers see the last
// commit, and nothing waits for a disk.
func newMemory(from mvcc.Snapshot) (path string) {
	path = memoryPath + rand.Text()
	mvcc.Create(memoryName(path), from)
	return path
}

func dropMemory(path string) { mvcc.Delete(memoryName(path)) }

func inMemory(path string) bool { return strings.HasPrefix(path, memoryPath) }

// memoryName returns the name under which the file system in memory knows the database.
func memoryName(path string) string { return "p8-" + strings.TrimPrefix(path, memoryPath) }
