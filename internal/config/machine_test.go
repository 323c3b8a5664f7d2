package config

import (
	"testing"
	"testing/fstest"
)

func TestMemory(t *testing.T) {
	const machine = "MemTotal:       24000000 kB\nMemFree:        100 kB\n"
	const total = 24_000_000 << 10
	for _, tt := range []struct {
		name   string
		files  map[string]string
		limit  int64
		source string
	}{
		{"nothing can be read", nil, 0, ""},
		{"no groups", map[string]string{"proc/meminfo": machine}, total, "the machine"},
		{"version 2", map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/app.slice/p8\n",
			"sys/fs/cgroup/app.slice/p8/memory.max": "1610612736\n",
		}, 1536 << 20, "the control group"},
		{"version 2, a lower limit above", map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/app.slice/p8\n",
			"sys/fs/cgroup/app.slice/p8/memory.max": "max\n", "sys/fs/cgroup/app.slice/memory.max": "536870912\n",
		}, 512 << 20, "the control group"},
		{"version 2, no limit", map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/app.slice/p8\n", "sys/fs/cgroup/app.slice/p8/memory.max": "max\n",
		}, total, "the machine"},
		{"version 2, in a container", map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "268435456\n",
		}, 256 << 20, "the control group"},
		{"version 1", map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "9:name=systemd:/\n4:memory:/jobs/p8\n1:cpu,cpuacct:/\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":         "9223372036854771712\n",
			"sys/fs/cgroup/memory/jobs/memory.limit_in_bytes":    "9223372036854771712\n",
			"sys/fs/cgroup/memory/jobs/p8/memory.limit_in_bytes": "1572864000\n",
		}, 1_572_864_000, "the control group"},
		{"version 1, in a container that sees the host's path", map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "4:cpuset,memory:/docker/0123456789abcdef\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
		}, 1 << 30, "the control group"},
		{"version 1, no limit", map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, total, "the machine"},
		{"files that are not what they should be", map[string]string{
			"proc/meminfo": "MemTotal: many\n", "proc/self/cgroup": "what\n\n0::\n", "sys/fs/cgroup/memory.max": "-5\n",
		}, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range tt.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if limit, source := Memory(root); limit != tt.limit || source != tt.source {
				t.Errorf("%d of %q, want %d of %q", limit, source, tt.limit, tt.source)
			}
		})
	}
}
