package quota

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Limit is where a subject stands with one of its limits.
type Limit struct {
	// Name is the subject's kind and the limit, such as user-requests.
	Name string
	// Quota and Left are in Unit; Window is that of the quota, Reset when it begins anew.
	Quota, Left   int64
	Unit          string
	Window, Reset time.Duration
}

// Standing is where a caller stands with each limit.
type Standing []Limit

// standing returns the limits with a window.
func (own *accounts) standing(now time.Time) (list Standing) {
	for _, a := range own {
		if a == nil {
			continue
		}
		add := func(what, unit string, quota, used int64, window, reset time.Duration) {
			if quota > 0 {
				list = append(list, Limit{a.kind + "-" + what, quota, max(0, quota-used), unit, window, reset})
			}
		}
		const cents = 100
		add("requests", "", a.limits.Requests, a.requests+a.unsettled, time.Minute, untilMinute(now))
		add("runs", "concurrent-requests", a.limits.Runs, a.runs, 0, 0)
		add("tokens", "tokens", a.limits.Tokens, a.tokens+a.heldTokens, 24*time.Hour, untilDay(now))
		add("cost", "us-cents", int64(a.limits.USD*cents), int64((a.usd+a.heldUSD)*cents), 24*time.Hour, untilDay(now))
	}
	return list
}

// Set sets the headers RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-09).
// The units tokens and us-cents are p8's own.
func (s Standing) Set(h http.Header) {
	if len(s) == 0 {
		return
	}
	var policy, left strings.Builder
	for i, l := range s {
		if i > 0 {
			policy.WriteString(", ")
			left.WriteString(", ")
		}
		fmt.Fprintf(&policy, "%q;q=%d", l.Name, l.Quota)
		fmt.Fprintf(&left, "%q;r=%d", l.Name, l.Left)
		if l.Window > 0 {
			fmt.Fprintf(&policy, ";w=%d", int64(l.Window/time.Second))
			fmt.Fprintf(&left, ";t=%d", int64((l.Reset+time.Second-1)/time.Second))
		}
		if l.Unit != "" {
			fmt.Fprintf(&policy, ";qu=%q", l.Unit)
		}
	}
	h.Set("RateLimit-Policy", policy.String())
	h.Set("RateLimit", left.String())
}
