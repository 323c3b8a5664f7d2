package event

import "strings"

// Deltas concatenates the deltas of a text. A text of one piece, as most tool
// arguments and many short answers are, is not copied. The zero value works; it must
// not be copied after the second Add.
type Deltas struct {
	first string
	rest  strings.Builder
}

// roomForText holds a short answer.
const roomForText = 64

// Add appends a delta.
func (d *Deltas) Add(delta string) {
	switch {
	case delta == "":
		return
	case d.first == "":
		d.first = delta
		return
	case d.rest.Len() == 0:
		d.rest.Grow(max(roomForText, len(d.first)+len(delta)))
		d.rest.WriteString(d.first)
	}
	d.rest.WriteString(delta)
}

// Len returns the number of bytes so far.
func (d *Deltas) Len() int { return max(len(d.first), d.rest.Len()) }

// String returns the text so far.
func (d *Deltas) String() string {
	if d.rest.Len() > 0 {
		return d.rest.String()
	}
	return d.first
}

// Reset clears the text.
func (d *Deltas) Reset() {
	d.first = ""
	d.rest.Reset()
}
