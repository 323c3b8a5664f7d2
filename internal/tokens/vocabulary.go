package tokens

import (
	"compress/gzip"
	_ "embed"
	"io"
	"strings"
	"sync"
)

// cl100k_base.gz has the tokens of OpenAI's vocabulary in the order of their ranks: the 256
// tokens of one byte, then, as every other token consists of two of lower ranks, these ranks.
// They are in six columns, for the compression: the lowest byte of all first ranks, the
// middle one, the highest, and the same of the second ranks.
// `go test ./internal/tokens -update` writes it.
//
//go:embed cl100k_base.gz
var compressed string

const (
	// vocabularySize is the number of tokens, vocabularyBytes their length.
	vocabularySize  = 100_256
	vocabularyBytes = 643_830

	// joined is the number of tokens that consist of two.
	joined = vocabularySize - 256
)

// vocabulary returns the rank of each token. The first call takes 20 ms.
var vocabulary = sync.OnceValue(func() map[string]uint32 {
	ranks := make(map[string]uint32, vocabularySize)
	for rank, token := range unpack(compressed) {
		ranks[token] = uint32(rank)
	}
	return ranks
})

// unpack returns the tokens of the embedded file, which a test reads, so that it has no errors.
func unpack(file string) []string {
	r, err := gzip.NewReader(strings.NewReader(file))
	if err != nil {
		return nil
	}
	data := make([]byte, 256+6*joined)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil
	}
	var all strings.Builder // one allocation for all
	all.Grow(vocabularyBytes)
	tokens := make([]string, 0, vocabularySize)
	add := func(first, second string) {
		begin := all.Len()
		all.WriteString(first)
		all.WriteString(second)
		tokens = append(tokens, all.String()[begin:])
	}
	for i := range 256 {
		add(string(data[i:i+1]), "")
	}
	columns := data[256:]
	rank := func(column, i int) int {
		at := column*joined + i
		return int(columns[at]) | int(columns[at+joined])<<8 | int(columns[at+2*joined])<<16
	}
	for i := range joined {
		add(tokens[rank(0, i)], tokens[rank(3, i)])
	}
	return tokens
}
