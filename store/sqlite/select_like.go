package sqlite

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"
)

// maxPattern bounds the pattern of LIKE, in characters.
const maxPattern = 1000

// like takes at most the length of the text times that of the pattern: it backtracks only
// to the last %.
func like(ctx context.Context, text, pattern string, escape []rune) (bool, error) {
	type element struct {
		r        rune
		any, one bool
	}
	var p []element
	escaped := false
	for _, r := range pattern {
		switch {
		case !escaped && len(escape) == 1 && r == escape[0]:
			escaped = true
			continue
		case !escaped && r == '%':
			p = append(p, element{any: true})
		case !escaped && r == '_':
			p = append(p, element{one: true})
		default:
			p = append(p, element{r: r})
		}
		escaped = false
	}
	if escaped {
		return false, errors.New("LIKE pattern must not end with escape character")
	}
	if len(p) > maxPattern {
		return false, fmt.Errorf("a LIKE pattern has at most %d characters", maxPattern)
	}
	i, j, star, retry := 0, 0, -1, 0
	for steps := 1; i < len(text); steps++ {
		if steps&0xfffff == 0 && ctx.Err() != nil {
			return false, sqlite3.INTERRUPT
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case j < len(p) && p[j].any:
			star, retry = j, i
			j++
		case j < len(p) && (p[j].one || p[j].r == r):
			i += size
			j++
		case star >= 0:
			_, size := utf8.DecodeRuneInString(text[retry:])
			retry += size
			i, j = retry, star+1
		default:
			return false, nil
		}
	}
	for j < len(p) && p[j].any {
		j++
	}
	return j == len(p), nil
}
