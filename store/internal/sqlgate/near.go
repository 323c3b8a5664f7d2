package sqlgate

import (
	"strconv"

	"github.com/p8-org/p8/internal/near"
)

// didYouMean returns the end of an error with the name that was probably meant.
func didYouMean(word string, names []string) string {
	if best := near.Word(word, names); best != "" {
		return "; did you mean " + strconv.Quote(best) + "?"
	}
	return ""
}
