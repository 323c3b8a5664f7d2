package tokens

import (
	"compress/gzip"
	_ "embed"
	"io"
	"strings"
	"sync"
)

// cl100k_base.gz has the tokens of OpenAI's vocabulary in the order of their ranks, each
// after a byte with its length. `go test ./internal/tokens -update` writes it.
//
//go:embed cl100k_base.gz
var compressed string

// vocabularySize is the number of tokens.
const vocabularySize = 100_256

// vocabulary returns the rank of each token. The first call takes 20 ms.
var vocabulary = sync.OnceValue(func() map[string]uint32 {
	ranks := make(map[string]uint32, vocabularySize)
	for all := unpack(compressed); len(all) > 0; {
		end := 1 + int(all[0])
		ranks[all[1:end]] = uint32(len(ranks))
		all = all[end:]
	}
	return ranks
})

// unpack decompresses an embedded file, which a test reads, so that it has no errors.
func unpack(file string) string {
	r, err := gzip.NewReader(strings.NewReader(file))
	if err != nil {
		return ""
	}
	all, _ := io.ReadAll(r)
	return string(all)
}
