package config

import (
	"bufio"
	"bytes"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Memory returns how many bytes of memory this process may use, and the source of that
// number: the lowest limit of its control groups (cgroup, version 1 or 2) and their
// parents, or the machine's memory. root is the root of the file system. It returns 0 if
// neither can be read, as on systems other than Linux.
func Memory(root fs.FS) (limit int64, source string) {
	if total := machineMemory(root); total > 0 {
		limit, source = total, "the machine"
	}
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return limit, source
	}
	for line := range strings.Lines(string(groups)) {
		// hierarchy:controllers:path; version 2 has the hierarchy 0 and no controllers.
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		var dir, file string
		switch {
		case fields[0] == "0" && fields[1] == "":
			dir, file = "sys/fs/cgroup", "memory.max"
		case hasController(fields[1], "memory"):
			dir, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// A group without a limit has a very large number, or "max".
		if n := groupLimit(root, dir, fields[2], file); n > 0 && (limit == 0 || n < limit) {
			limit, source = n, "the control group"
		}
	}
	return limit, source
}

// groupLimit returns the lowest limit of a group and its parents; 0 for none. In a
// container, the path may be the host's, while the container sees its group as the root.
func groupLimit(root fs.FS, dir, group, file string) (limit int64) {
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		text, err := fs.ReadFile(root, path.Join(dir, group, file))
		if err == nil {
			n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			if err == nil && n > 0 && (limit == 0 || n < limit) {
				limit = n
			}
		}
		if group == "/" {
			return limit
		}
	}
}

func hasController(list, name string) bool {
	for c := range strings.SplitSeq(list, ",") {
		if c == name {
			return true
		}
	}
	return false
}

// machineMemory returns the machine's memory in bytes; 0 if it is unknown.
func machineMemory(root fs.FS) int64 {
	info, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	lines := bufio.NewScanner(bytes.NewReader(info))
	for lines.Scan() {
		value, ok := strings.CutPrefix(lines.Text(), "MemTotal:")
		if !ok {
			continue
		}
		kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0
		}
		return kb << 10
	}
	return 0
}
