package show

import (
	"testing"
	"time"
)

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Microsecond: "1ms", 40 * time.Millisecond: "40ms", 1500 * time.Millisecond: "1.5s", 3 * time.Second: "3s",
		12700 * time.Millisecond: "12s", 125 * time.Second: "2m05s", -time.Second: "0s",
	} {
		if got := Seconds(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
