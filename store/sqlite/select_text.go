package sqlite

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"
)

var textFunctions = map[string]scalar{
	"p8_lower":   text(strings.ToLower),
	"p8_upper":   text(strings.ToUpper),
	"p8_initcap": text(initcap),
	"p8_reverse": text(reverse),
	"p8_md5": text(func(s string) string {
		sum := md5.Sum([]byte(s))
		return hex.EncodeToString(sum[:])
	}),
	"p8_left":  func(c sqlite3.Context, a args) error { return c1(c, left(a[0].Text(), a[1].Int64())) },
	"p8_right": func(c sqlite3.Context, a args) error { return c1(c, right(a[0].Text(), a[1].Int64())) },
	"p8_substr": func(c sqlite3.Context, a args) error {
		n := int64(math.MaxInt32)
		if len(a) == 3 {
			n = a[2].Int64()
		}
		if n < 0 {
			return errors.New("negative substring length not allowed")
		}
		from := a[1].Int64()
		end := from + min(n, math.MaxInt32)
		if end <= 1 {
			return c1(c, "")
		}
		return c1(c, left(after(a[0].Text(), max(0, from-1)), end-max(1, from)))
	},
	"p8_trim":  trim(true, true),
	"p8_ltrim": trim(true, false),
	"p8_rtrim": trim(false, true),
	"p8_replace": func(c sqlite3.Context, a args) error {
		s := left(a[0].Text(), maxText)
		if old := a[1].Text(); old != "" {
			s = strings.ReplaceAll(s, old, a[2].Text())
		}
		return c1(c, left(s, maxText))
	},
	"p8_strpos": func(c sqlite3.Context, a args) error {
		s := a[0].Text()
		i := strings.Index(s, a[1].Text())
		if i >= 0 {
			i = utf8.RuneCountInString(s[:i])
		}
		c.ResultInt(i + 1)
		return nil
	},
	"p8_starts_with": func(c sqlite3.Context, a args) error {
		c.ResultBool(strings.HasPrefix(a[0].Text(), a[1].Text()))
		return nil
	},
	"p8_split_part": func(c sqlite3.Context, a args) error {
		n := a[2].Int64()
		if n == 0 {
			return errors.New("field position must not be zero")
		}
		parts := []string{a[0].Text()}
		if sep := a[1].Text(); sep != "" {
			parts = strings.Split(parts[0], sep)
		}
		if n < 0 {
			n += int64(len(parts)) + 1
		}
		if n < 1 || n > int64(len(parts)) {
			return c1(c, "")
		}
		return c1(c, parts[n-1])
	},
	"p8_repeat": func(c sqlite3.Context, a args) error {
		return c1(c, left(strings.Repeat(left(a[0].Text(), 1000), int(min(max(a[1].Int64(), 0), 1000))), maxText))
	},
	"p8_lpad": pad(true),
	"p8_rpad": pad(false),
	"p8_ascii": func(c sqlite3.Context, a args) error {
		r, size := utf8.DecodeRuneInString(a[0].Text())
		if size == 0 {
			r = 0
		}
		c.ResultInt(int(r))
		return nil
	},
	"p8_concat":     func(c sqlite3.Context, a args) error { return c1(c, left(join(a, ""), maxText)) },
	"p8_concat_ws":  concatWS,
	"p8_regex":      regex(""),
	"p8_regex_fold": regex("(?i)"),

	"p8_greatest": extreme(1),
	"p8_least":    extreme(-1),
	"p8_round":    round,
	"p8_int": func(c sqlite3.Context, a args) error {
		s := strings.TrimSpace(a[0].Text())
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return fmt.Errorf("invalid input syntax for type integer: %.60q", s)
		}
		c.ResultInt64(n)
		return nil
	},
	"p8_number": func(c sqlite3.Context, a args) error {
		s := strings.TrimSpace(a[0].Text())
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || strings.ContainsAny(s, "xX_") {
			return fmt.Errorf("invalid input syntax for type numeric: %.60q", s)
		}
		c.ResultFloat(f)
		return nil
	},
	"p8_bool": func(c sqlite3.Context, a args) error {
		s := strings.ToLower(strings.TrimSpace(a[0].Text()))
		switch s {
		case "t", "tr", "tru", "true", "y", "ye", "yes", "on", "1":
			c.ResultBool(true)
		case "f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0":
			c.ResultBool(false)
		default:
			return fmt.Errorf("invalid input syntax for type boolean: %.60q", s)
		}
		return nil
	},
	"p8_bool_string": func(c sqlite3.Context, a args) error {
		if a[0].Type() == sqlite3.NULL {
			return nil
		}
		return c1(c, strconv.FormatBool(a[0].Bool()))
	},
	"p8_number_string": func(c sqlite3.Context, a args) error {
		return c1(c, strconv.FormatFloat(a[0].Float(), 'f', -1, 64))
	},
}

func text(fn func(string) string) scalar {
	return func(c sqlite3.Context, a args) error { return c1(c, fn(a[0].Text())) }
}

// after returns s without its first n characters.
func after(s string, n int64) string {
	for ; n > 0 && s != ""; n-- {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return s
}

// left returns the first n characters, or all but the last -n.
func left(s string, n int64) string {
	if n < 0 {
		n += int64(utf8.RuneCountInString(s))
	}
	if n <= 0 {
		return ""
	}
	if int64(len(s)) <= n {
		return s
	}
	return s[:len(s)-len(after(s, n))]
}

func right(s string, n int64) string {
	count := int64(utf8.RuneCountInString(s))
	if n < 0 {
		return after(s, min(-n, count))
	}
	return after(s, max(0, count-n))
}

func initcap(s string) string {
	word := false
	return strings.Map(func(r rune) rune {
		was := word
		word = unicode.IsLetter(r) || unicode.IsDigit(r)
		if was {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

func reverse(s string) string {
	out := make([]byte, len(s))
	for i := len(s); s != ""; {
		_, size := utf8.DecodeRuneInString(s)
		i -= size
		copy(out[i:], s[:size])
		s = s[size:]
	}
	return string(out)
}

func trim(leading, trailing bool) scalar {
	return func(c sqlite3.Context, a args) error {
		cut := map[rune]bool{' ': true}
		if len(a) == 2 {
			clear(cut)
			for _, r := range a[1].Text() {
				cut[r] = true
			}
		}
		s := a[0].Text()
		drop := func(r rune) bool { return cut[r] }
		if leading {
			s = strings.TrimLeftFunc(s, drop)
		}
		if trailing {
			s = strings.TrimRightFunc(s, drop)
		}
		return c1(c, s)
	}
}

func pad(before bool) scalar {
	return func(c sqlite3.Context, a args) error {
		s, fill := a[0].Text(), " "
		n := min(max(a[1].Int64(), 0), maxText)
		if len(a) == 3 {
			fill = left(a[2].Text(), maxText)
		}
		room := n - int64(utf8.RuneCountInString(s))
		if room <= 0 || fill == "" {
			return c1(c, left(s, n))
		}
		filling := left(strings.Repeat(fill, int(room)/utf8.RuneCountInString(fill)+1), room)
		if before {
			return c1(c, filling+s)
		}
		return c1(c, s+filling)
	}
}

func join(a args, sep string) string {
	var b strings.Builder
	first := true
	for _, v := range a {
		if v.Type() == sqlite3.NULL {
			continue
		}
		if !first {
			b.WriteString(sep)
		}
		first = false
		b.WriteString(v.Text())
	}
	return b.String()
}

func concatWS(c sqlite3.Context, a args) error {
	if a[0].Type() == sqlite3.NULL {
		return nil
	}
	return c1(c, left(join(a[1:], a[0].Text()), maxText))
}
