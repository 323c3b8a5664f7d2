package api_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/golden"
)

// TestMemoryBadInput: each wrong field has an error of one sentence.
func TestMemoryBadInput(t *testing.T) {
	s := remembering(t, newRemembered())
	note := "/moments/" + momentID("tea-with-sarah")
	long := func(n int) string { return strings.Repeat("x", n) }
	many := strings.TrimSuffix(strings.Repeat(`"x",`, 51), ",")
	var b strings.Builder
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/sessions/" + long(129) + "/context", ""},
		{"GET", "/sessions/s1/context?agent=" + long(256), ""},
		{"GET", "/sessions/s1/timeline?limit=0", ""},
		{"GET", "/sessions/s1/timeline?limit=501", ""},
		{"GET", "/sessions/s1/timeline?cursor=" + long(1025), ""},
		{"POST", "/sessions/s1/compact", `{"threshold":0}`},
		{"POST", "/sessions/s1/compact", `{"threshold":"many"}`},
		{"POST", "/sessions/s1/compact", `{"threshold":`},
		{"GET", "/moments?limit=x", ""},
		{"GET", "/moments?offset=-1", ""},
		{"GET", "/moments?offset=2&cursor=x", ""},
		{"GET", "/moments?cursor=%25", ""},
		{"GET", "/moments?session_id=" + long(129), ""},
		{"GET", "/moments?moment_type=" + long(101), ""},
		{"GET", "/moments?category=" + long(101), ""},
		{"GET", "/moments?topic_tags=" + long(101), ""},
		{"GET", "/moments?topic_tags=" + strings.Repeat("x,", 21), ""},
		{"GET", "/moments?after_date=yesterday", ""},
		{"GET", "/moments?before_date=2026-02-30", ""},
		{"GET", "/moments/feed?limit=101", ""},
		{"GET", "/moments/feed?before_date=21.02.2026", ""},
		{"GET", "/moments/feed?tz=Berlin", ""},
		{"GET", "/moments/feed?tz=Local", ""},
		{"GET", "/moments/feed?tz=../etc/passwd", ""},
		{"GET", "/moments/feed?include_future=perhaps", ""},
		{"GET", "/moments/today?tz=" + long(65), ""},
		{"GET", "/moments/reminders?created_on=today", ""},
		{"GET", "/reminders?due_on=2026-13-01", ""},
		{"GET", "/reminders?limit=1000", ""},
		{"GET", "/moments/search?q=" + long(501), ""},
		{"GET", "/moments/search?q=%20", ""},
		{"GET", "/moments/search?q=x&limit=51", ""},
		{"GET", "/moments/by-name/" + long(256), ""},
		{"POST", "/moments", `{`},
		{"POST", "/moments", `[]`},
		{"POST", "/moments", ` `},
		{"POST", "/moments", `{"summary":"x"}`},
		{"POST", "/moments", `{"name":"` + long(256) + `"}`},
		{"POST", "/moments", `{"name":"a\nb"}`},
		{"POST", "/moments", `{"name":7}`},
		{"POST", "/moments", `{"name":"x","summary":"` + long(20_001) + `"}`},
		{"POST", "/moments", `{"name":"x","moment_type":"session_chunk"}`},
		{"POST", "/moments", `{"name":"x","moment_type":"today_summary"}`},
		{"POST", "/moments", `{"name":"x","moment_type":"A Note"}`},
		{"POST", "/moments", `{"name":"x","category":"` + long(101) + `"}`},
		{"POST", "/moments", `{"name":"x","topic_tags":"tea"}`},
		{"POST", "/moments", `{"name":"x","topic_tags":[` + many + `]}`},
		{"POST", "/moments", `{"name":"x","topic_tags":["` + long(101) + `"]}`},
		{"POST", "/moments", `{"name":"x","metadata":[]}`},
		{"POST", "/moments", `{"name":"x","metadata":{"a":"` + long(65<<10) + `"}}`},
		{"POST", "/moments", `{"name":"x","starts_timestamp":"tomorrow"}`},
		{"POST", "/moments", `{"name":"x","starts_timestamp":"2026-02-21T00:00:00Z","ends_timestamp":"2026-02-20T00:00:00Z"}`},
		{"POST", "/moments", `{"name":"x","session_id":"` + long(129) + `"}`},
		{"PATCH", note, `{}`},
		{"PATCH", note, `{"name":""}`},
		{"PATCH", note, `{"name":"` + long(256) + `"}`},
		{"PATCH", note, `{"summary":1}`},
		{"PATCH", note, `{"summary":"` + long(20_001) + `"}`},
		{"PATCH", note, `{"category":"` + long(101) + `"}`},
		{"PATCH", note, `{"topic_tags":[1]}`},
		{"PATCH", note, `{"metadata":"x"}`},
		{"PATCH", note, `{"metadata":{"b":"` + long(64<<10-8) + `"}}`},
		{"POST", note + "/rate", `{"rating":0}`},
		{"POST", note + "/rate", `{"rating":6}`},
		{"POST", note + "/rate", `{"rating":4.5}`},
		{"POST", note + "/rate", `{"rating":"good"}`},
		{"POST", "/reminders", `{"crontab":"0 9 * * *"}`},
		{"POST", "/reminders", `{"name":"x"}`},
		{"POST", "/reminders", `{"name":"` + long(201) + `","crontab":"0 9 * * *"}`},
		{"POST", "/reminders", `{"name":"x","crontab":"` + long(101) + `"}`},
		{"POST", "/reminders", `{"name":"x","crontab":"0 9 * * *","description":"` + long(4001) + `"}`},
		{"POST", "/reminders", `{"name":"x","crontab":"0 9 * * *","timezone":"Mars"}`},
		{"POST", "/reminders", `{"name":"x","crontab":"0 9 * * *","tags":[` + many + `]}`},
		{"POST", "/reminders", `{"name":"x","crontab":9}`},
		{"GET", "/notifications?after=" + long(129), ""},
		{"POST", "/dream", `{"lookback_days":0}`},
		{"POST", "/dream", `{"lookback_days":31}`},
		{"POST", "/dream", `{"lookback_days":"all"}`},
		{"POST", "/dream", `{"dry_run":"yes"}`},
		{"POST", "/dream", `{"agent":"` + long(256) + `"}`},
		{"POST", "/dream", `{"agent":"../etc"}`},
	} {
		w := s.do(c.method, c.path, c.body, alice...)
		var problem struct {
			Status              int
			Code, Detail, Param string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || w.Code < 400 || w.Code >= 500 || problem.Status != w.Code ||
			w.Header().Get("Content-Type") != "application/problem+json" || problem.Detail == "" || strings.Contains(problem.Detail, long(65)) {
			t.Errorf("%s %.80s %.80s: %d %.300s", c.method, c.path, c.body, w.Code, w.Body)
		}
		short := func(s string) string { return regexp.MustCompile(`x{65,}`).ReplaceAllString(s, "x…") }
		path := anyID.ReplaceAllString(short(c.path), "<id>")
		fmt.Fprintf(&b, "%s %s %s\n    %d %s %s: %s\n", c.method, path, short(strings.ReplaceAll(c.body, many, `"x",…`)), w.Code, problem.Code, problem.Param, problem.Detail)
	}
	golden.Compare(t, filepath.Join("testdata", "memory", "bad-input.txt"), b.String())
}
