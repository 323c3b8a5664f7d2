package outbound

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Bounds of the pauses between tries.
const (
	firstPause = 500 * time.Millisecond
	maxPause   = 8 * time.Second
	// maxRetryAfter is the longest wait that a provider can ask for; an error is better
	// than a longer one.
	maxRetryAfter = time.Minute
)

// Retries is the number of tries after the first that an option asks for: 2 when it is
// 0, none when it is negative.
func Retries(option int) int {
	if option == 0 {
		return 2
	}
	return max(option, 0)
}

// Pause waits before the next try: as long as the provider asked for, else twice as long
// as before the last one, with jitter. It returns false at once if the wait would be
// longer than a minute or outlast the context.
func Pause(ctx context.Context, try int, asked time.Duration) bool {
	wait := asked
	if asked > maxRetryAfter {
		return false
	}
	if asked > 0 {
		wait += rand.N(asked/10 + 1)
	} else {
		full := min(firstPause<<min(try, 10), maxPause)
		wait = full/2 + rand.N(full/2+1)
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// RetryAfter is the wait that the headers ask for: Retry-After-Ms, or Retry-After in
// seconds or as a date. It is 0 if neither header can be read.
func RetryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		if s > 0 && s < 1e6 {
			return time.Duration(s * float64(time.Second))
		}
		return 0
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(time.Until(t), 0)
	}
	return 0
}
