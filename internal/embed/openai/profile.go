package openai

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// profile is what the documentation of a model says of it.
type profile struct {
	prefix string
	// dimensions is 0 where builds of the model differ, or nobody can say.
	dimensions int
	// maxTokens is the window.
	maxTokens int
	// minSimilarity lies above most pairs of unrelated texts; models differ in how
	// near they put everything.
	minSimilarity float64
	// query and document are what the model wants before a text.
	query, document string
}

var profiles = [...]profile{
	{prefix: "text-embedding-3-small", dimensions: 1536, maxTokens: 8191, minSimilarity: 0.3},
	{prefix: "text-embedding-3-large", dimensions: 3072, maxTokens: 8191, minSimilarity: 0.3},
	{prefix: "text-embedding-ada-002", dimensions: 1536, maxTokens: 8191, minSimilarity: 0.75},
	{prefix: "nomic-embed-text", maxTokens: 2048, minSimilarity: 0.5, query: "search_query: ", document: "search_document: "},
	{prefix: "mxbai-embed-large", maxTokens: 512, minSimilarity: 0.5, query: "Represent this sentence for searching relevant passages: "},
	{prefix: "all-minilm", maxTokens: 256, minSimilarity: 0.3},
	{prefix: "bge-", maxTokens: 512, minSimilarity: 0.5},
	{prefix: "bge-m3", maxTokens: 8192, minSimilarity: 0.45},
	{prefix: "", maxTokens: 8191, minSimilarity: 0.3},
}

// profileOf finds the model by the longest prefix of its name, without the
// organisation: "BAAI/bge-m3" is bge-m3.
func profileOf(model string) profile {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	best := profiles[len(profiles)-1]
	for _, p := range profiles {
		if strings.HasPrefix(name, p.prefix) && len(p.prefix) > len(best.prefix) {
			best = p
		}
	}
	return best
}

// cutter cuts texts to a number of tokens, counted as OpenAI's models do; for
// others that is near enough, as what is still too long is cut again when it is
// refused.
type cutter struct {
	// vocabulary is read when the first long text comes.
	vocabulary func() *codec.Codec
}

func newCutter() cutter {
	return cutter{sync.OnceValue(codec.NewCl100kBase)}
}

// bytesPerToken is more than any text of many tokens has.
const bytesPerToken = 8

func (c cutter) cut(text string, tokens int) string {
	if len(text) <= tokens { // no token is shorter than a byte
		return text
	}
	text = head(text, tokens*bytesPerToken)
	cl100k := c.vocabulary()
	ids, _, err := cl100k.Encode(text)
	if err != nil {
		return head(text, tokens)
	}
	if len(ids) <= tokens {
		return text
	}
	short, err := cl100k.Decode(ids[:tokens])
	if err != nil {
		return head(text, tokens)
	}
	return whole(short)
}

// head is at most n bytes of a text, without half a character at the end.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return whole(text[:n])
}

// whole drops half a character at the end.
func whole(text string) string {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if start := len(text) - i; utf8.RuneStart(text[start]) {
			if !utf8.FullRuneInString(text[start:]) {
				return text[:start]
			}
			break
		}
	}
	return text
}
