package live

// Held is how many bytes of events the log holds.
func Held(l *Log) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.memory.bytes
}
