package rem

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/p8-org/p8/store"
)

func (e *Engine) selection(ctx context.Context, q Select, res *Result) error {
	res.RawQuery = q.Text
	found, err := e.Knowledge.Select(ctx, q.Text, e.selectBounds(ctx, q))
	if err != nil {
		return err
	}
	res.Selection = &found
	res.Truncated = found.Truncated
	if found.Truncated {
		res.note(fmt.Sprintf("There are more rows than these %d.", len(found.Rows)))
	}
	res.Results, err = objects(found)
	return err
}

// selectBounds returns the rest of the query's time and the bounds of its result.
func (e *Engine) selectBounds(ctx context.Context, q Select) store.SelectBounds {
	b := store.SelectBounds{Rows: MaxRows, Bytes: e.Bytes, Timeout: e.Timeout}
	if q.Rows > 0 {
		b.Rows = min(q.Rows, MaxRows)
	}
	if deadline, ok := ctx.Deadline(); ok {
		b.Timeout = max(time.Until(deadline), time.Millisecond)
	}
	return b
}

// objects returns the rows as JSON objects whose members are in the order of the
// columns. Of columns with the same name the second is name_2.
func objects(s store.Selection) ([]Row, error) {
	names := make([][]byte, len(s.Columns))
	seen := make(map[string]bool, len(s.Columns))
	for i, column := range s.Columns {
		name := column
		for n := 2; seen[name]; n++ {
			name = column + "_" + strconv.Itoa(n)
		}
		seen[name] = true
		quoted, err := marshal(name)
		if err != nil {
			return nil, err
		}
		names[i] = append(quoted, ':')
	}
	rows := make([]Row, len(s.Rows))
	for i, values := range s.Rows {
		var b bytes.Buffer
		b.WriteByte('{')
		for j, value := range values[:min(len(values), len(names))] {
			encoded, err := marshal(value)
			if err != nil {
				// Infinity and NaN are no JSON.
				if encoded, err = marshal(fmt.Sprint(value)); err != nil {
					return nil, err
				}
			}
			if j > 0 {
				b.WriteByte(',')
			}
			b.Write(names[j])
			b.Write(encoded)
		}
		b.WriteByte('}')
		rows[i] = Row{Data: b.Bytes()}
	}
	return rows, nil
}
