package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// jsonRow is a row whose columns are the elements of a JSON array.
type jsonRow []json.RawMessage

// Scan implements Row.
func (r jsonRow) Scan(dest ...any) error {
	if len(r) != len(dest) {
		return fmt.Errorf("store: %d targets for %d columns", len(dest), len(r))
	}
	for i, d := range dest {
		switch v := d.(type) {
		case *string:
			*v = ""
			if b := r[i]; b[0] == '"' && bytes.IndexByte(b, '\\') < 0 {
				*v = string(b[1 : len(b)-1])
				continue
			}
		case *json.RawMessage:
			if *v = r[i]; string(r[i]) == "null" {
				*v = nil
			}
			continue
		case *int:
			*v = 0
		case *int64:
			*v = 0
		case *float64:
			*v = 0
		case *time.Time:
			*v = time.Time{}
		}
		// null leaves a target as it is.
		if err := json.Unmarshal(r[i], d); err != nil {
			return fmt.Errorf("store: column %d: %w", i, err)
		}
		if v, ok := d.(*time.Time); ok {
			*v = v.UTC()
		}
	}
	return nil
}
