package rest

import (
	"net/url"
	"strconv"
)

// Body is an answer of one value.
type Body[T any] struct{ Body T }

// Forgotten is the answer to the deletion of a moment or a reminder.
type Forgotten struct {
	Deleted bool   `json:"deleted"`
	ID      string `json:"id"`
	// CronCancelled is true for a reminder: it never fires.
	CronCancelled bool `json:"cron_cancelled,omitempty"`
}

// List is a page of rows. The inputs of lists repeat the fields Limit and Cursor: huma
// does not read the fields of embedded types that are not exported.
type List[T any] struct {
	Link string `header:"Link" doc:"The next page, <…>; rel=\"next\"; absent on the last one."`
	Body []T
}

// NewList returns a page with the link to the next one, which begins after the cursor
// next; "" is the last page.
func NewList[T any](rows []T, query url.Values, limit int, next string) *List[T] {
	l := &List[T]{Body: rows}
	if rows == nil {
		l.Body = []T{}
	}
	if next != "" {
		query.Set("limit", strconv.Itoa(limit))
		query.Set("cursor", next)
		l.Link = NextPage(query)
	}
	return l
}

// NextPage returns the Link header of the page that query names. It is relative to
// the page's own address, so that it is right under every prefix.
func NextPage(query url.Values) string {
	return "<?" + query.Encode() + `>; rel="next"`
}

// Yes is the value of a parameter in a Query: "true", or "" for false.
func Yes(b bool) string {
	if b {
		return "true"
	}
	return ""
}

// Query returns the parameters that are not empty, from names and values in turn.
func Query(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	return v
}
