package sqlite

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// extreme returns the greatest (1) or least (-1) of its arguments that are not NULL.
func extreme(sign int) scalar {
	return func(c sqlite3.Context, a args) error {
		var best *sqlite3.Value
		for i := range a {
			if a[i].Type() == sqlite3.NULL {
				continue
			}
			if best == nil || compare(a[i], *best)*sign > 0 {
				best = &a[i]
			}
		}
		if best != nil {
			c.ResultValue(*best)
		}
		return nil
	}
}

func compare(a, b sqlite3.Value) int {
	if a.Type() == sqlite3.TEXT || b.Type() == sqlite3.TEXT {
		return strings.Compare(a.Text(), b.Text())
	}
	switch x, y := a.Float(), b.Float(); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// round rounds half away from zero, by the decimal digits of the number, as
// PostgreSQL's numeric does: 2.675 is 2.68.
func round(c sqlite3.Context, a args) error {
	f, digits := a[0].Float(), int64(0)
	if len(a) == 2 {
		digits = a[1].Int64()
	}
	if math.IsNaN(f) || math.IsInf(f, 0) || digits > 20 || digits < -20 {
		c.ResultFloat(f)
		return nil
	}
	// Use the shortest digits that identify f: with 17 digits, 2.675 would be
	// 2.6749999999999998.
	x, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'f', -1, 64))
	if !ok {
		c.ResultFloat(f)
		return nil
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(abs(digits)), nil))
	if digits < 0 {
		scale.Inv(scale)
	}
	x.Mul(x, scale)
	half := big.NewRat(1, 2)
	if x.Sign() < 0 {
		half.Neg(half)
	}
	x.Add(x, half)
	whole := new(big.Rat).SetInt(new(big.Int).Quo(x.Num(), x.Denom()))
	v, _ := whole.Quo(whole, scale).Float64()
	c.ResultFloat(v)
	return nil
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// regex returns a function that matches with Go's regular expressions, whose time is
// bounded by the length of the text. Go refuses patterns that only PostgreSQL supports.
func regex(flags string) scalar {
	return func(c sqlite3.Context, a args) error {
		re, ok := c.GetAuxData(1).(*regexp.Regexp)
		if !ok {
			pattern := a[1].Text()
			if len(pattern) > maxPattern {
				return fmt.Errorf("a regular expression has at most %d bytes", maxPattern)
			}
			var err error
			if re, err = regexp.Compile(flags + pattern); err != nil {
				return fmt.Errorf("invalid regular expression: %.60q", pattern)
			}
			c.SetAuxData(1, re)
		}
		c.ResultBool(re.MatchString(a[0].Text()))
		return nil
	}
}
