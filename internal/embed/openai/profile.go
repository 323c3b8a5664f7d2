package openai

import (
	"strings"
	"unicode/utf8"
)

// profile has the documented properties of a model.
type profile struct {
	prefix string
	// dimensions is 0 if builds of the model differ, or it is unknown.
	dimensions int
	// maxTokens is the context window.
	maxTokens int
	// minSimilarity is above that of most pairs of unrelated texts.
	minSimilarity float64
	// shortens: the first numbers of a vector are a vector, too.
	shortens bool
	// query and document are the model's prefixes of texts.
	query, document string
}

var profiles = [...]profile{
	{prefix: "text-embedding-3-small", dimensions: 1536, maxTokens: 8191, minSimilarity: 0.3, shortens: true},
	{prefix: "text-embedding-3-large", dimensions: 3072, maxTokens: 8191, minSimilarity: 0.3, shortens: true},
	{prefix: "text-embedding-ada-002", dimensions: 1536, maxTokens: 8191, minSimilarity: 0.75},
	{prefix: "nomic-embed-text", maxTokens: 2048, minSimilarity: 0.5, query: "search_query: ", document: "search_document: "},
	{prefix: "mxbai-embed-large", maxTokens: 512, minSimilarity: 0.5, query: "Represent this sentence for searching relevant passages: "},
	{prefix: "all-minilm", maxTokens: 256, minSimilarity: 0.3},
	{prefix: "bge-", maxTokens: 512, minSimilarity: 0.5},
	{prefix: "bge-m3", maxTokens: 8192, minSimilarity: 0.45},
	{prefix: "", maxTokens: 8191, minSimilarity: 0.3},
}

// profileOf returns the profile with the longest prefix of the name without the
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

// bytesPerToken is more than the average of any long text.
const bytesPerToken = 8

// cut cuts a text to a number of tokens of OpenAI's models. For other models that is an
// estimate; a text that is refused as too long is halved.
func (m *Model) cut(text string, most int) string {
	if len(text) <= most { // a token has at least one byte
		return text
	}
	return whole(m.counter.Head(head(text, most*bytesPerToken), most))
}

// head returns at most n bytes of a text, without a partial character at the end.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return whole(text[:n])
}

// whole drops a partial character at the end.
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
