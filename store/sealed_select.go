package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/p8-org/p8/internal/seal"
)

// openSelection opens the sealed values of a result. A value that an expression has changed
// cannot be opened: that is a SelectError.
func (s *Store) openSelection(ctx context.Context, by caller, sel Selection) (Selection, error) {
	if s.seals == nil {
		return sel, nil
	}
	if _, err := s.seals.of(ctx, by.TenantID, false); err != nil {
		return Selection{}, err
	}
	o := s.opener(by)
	for _, row := range sel.Rows {
		for i, v := range row {
			var err error
			if row[i], err = o.selected(v); errors.Is(err, errCut) || errors.Is(err, seal.ErrDamaged) {
				return Selection{}, &SelectError{Problem: fmt.Sprintf("%q is computed from an encrypted column, which can only be selected as it is: leave out the function", sel.Columns[i])}
			} else if err != nil {
				return Selection{}, err
			}
		}
	}
	return sel, nil
}

// selected opens a value of a result.
func (o *opener) selected(v any) (any, error) {
	switch x := v.(type) {
	case string:
		switch {
		case strings.HasPrefix(x, sealMark):
			plain, err := o.open([]byte(x), "")
			return string(plain), err
		case strings.Contains(x, sealMark):
			return nil, errCut
		}
	case json.RawMessage:
		if !bytes.Contains(x, []byte(sealMark)) {
			return v, nil
		}
		opened, err := o.json(x, "")
		if err == nil && bytes.Contains(opened, []byte(sealMark)) {
			err = errCut
		}
		return opened, err
	}
	return v, nil
}
