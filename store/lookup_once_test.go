package store

import (
	"encoding/json"
	"testing"
	"time"
)

func TestJSONRow(t *testing.T) {
	var row jsonRow
	if err := json.Unmarshal([]byte(`["a \"ü\"\n", "plain", null, 7, null, 8, 0.5, "2026-11-20T18:18:05.123456+02:00", null, { "b": 1,"a":[]}, null]`), &row); err != nil {
		t.Fatal(err)
	}
	a, b, c := "x", "x", "x"
	d, e, f, g := 1, 1, int64(1), 1.0
	h, i := time.Now(), time.Now()
	j, k := json.RawMessage("1"), json.RawMessage("1")
	if err := row.Scan(&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k); err != nil {
		t.Fatal(err)
	}
	if a != "a \"ü\"\n" || b != "plain" || c != "" || d != 7 || e != 0 || f != 8 || g != 0.5 || string(j) != `{ "b": 1,"a":[]}` || k != nil {
		t.Errorf("read %q %q %q %d %d %d %v %s %s", a, b, c, d, e, f, g, j, k)
	}
	if want := time.Date(2026, 11, 20, 16, 18, 5, 123456000, time.UTC); h != want || !i.IsZero() {
		t.Errorf("read the times %v, %v, want %v and none", h, i, want)
	}
	if row.Scan(&a) == nil {
		t.Error("too few targets are no error")
	}
	if (jsonRow{json.RawMessage(`"x"`)}).Scan(&d) == nil {
		t.Error("a text is read as a number")
	}
}
