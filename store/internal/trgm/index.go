package trgm

import (
	"cmp"
	"slices"
	"sort"
)

// Doc is a document of an index: two texts with an id.
type Doc struct {
	ID, Key, Summary string
}

// Hit is a found document.
type Hit struct {
	Doc
	// Score is the measure by which the document was found; Similarity breaks
	// ties between documents that contain the words equally well.
	Score, Similarity float64
}

// Compare orders hits: the best first, then by key and id.
func Compare(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Similarity, a.Similarity),
		cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID))
}

// Index finds documents by resemblance. It is not safe for concurrent writing;
// searches may run side by side.
type Index struct {
	docs []doc
	ids  map[string]int32
	// postings lists, for a trigram, the fields that have it: 2n is the key of
	// docs[n], 2n+1 its summary.
	postings map[trigram][]int32
	size     int
	dead     int
}

type doc struct {
	Doc
	// trigrams counts those of the key and of the summary.
	trigrams [2]int32
	dead     bool
}

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{ids: make(map[string]int32), postings: make(map[trigram][]int32)}
}

// Size returns the memory that the index takes, very roughly, in bytes.
func (x *Index) Size() int { return 4*x.size + 256*len(x.docs) }

// Has reports whether there is a document of that id.
func (x *Index) Has(id string) bool {
	_, ok := x.ids[id]
	return ok
}

// Put adds a document, or replaces the one with its id.
func (x *Index) Put(d Doc) {
	if n, ok := x.ids[d.ID]; ok {
		if x.docs[n].Doc == d {
			return
		}
		x.Delete(d.ID)
	}
	n := int32(len(x.docs))
	x.ids[d.ID] = n
	entry := doc{Doc: d}
	for i, text := range []string{d.Key, d.Summary} {
		trigrams := set(text)
		for _, t := range trigrams {
			x.postings[t] = append(x.postings[t], 2*n+int32(i))
		}
		entry.trigrams[i] = int32(len(trigrams))
		x.size += len(trigrams) + len(text)/4
	}
	x.docs = append(x.docs, entry)
}

// Delete removes a document. Its postings stay until half of the documents are deleted;
// then the index is rebuilt.
func (x *Index) Delete(id string) {
	n, ok := x.ids[id]
	if !ok {
		return
	}
	delete(x.ids, id)
	x.docs[n].dead = true
	if x.dead++; x.dead <= len(x.docs)/2 || x.dead < 64 {
		return
	}
	old := x.docs
	*x = *NewIndex()
	for _, d := range old {
		if !d.dead {
			x.Put(d.Doc)
		}
	}
}

// candidate is a document that shares trigrams with the search text.
type candidate struct {
	doc        int32
	similarity float64
	// bound is an upper bound of the score.
	bound float64
}

// Search returns the best limit documents, in the order of [Compare]. A document matches if
// its key or summary has at least the similarity threshold, or at least the word similarity
// words, to the text. Its score is the greatest measure that reaches its threshold.
func (x *Index) Search(text string, threshold, words float64, limit int) []Hit {
	query := set(text)
	if len(query) == 0 || limit <= 0 {
		return nil
	}
	shared := make([]int32, 2*len(x.docs))
	for _, t := range query {
		for _, field := range x.postings[t] {
			shared[field]++
		}
	}
	var list []candidate
	for n := range x.docs {
		a, b := int(shared[2*n]), int(shared[2*n+1])
		if a+b == 0 || x.docs[n].dead {
			continue
		}
		d := &x.docs[n]
		c := candidate{doc: int32(n), similarity: max(
			ratio(a, len(query), int(d.trigrams[0])), ratio(b, len(query), int(d.trigrams[1])))}
		if c.similarity >= threshold {
			c.bound = c.similarity
		}
		// No stretch of a text shares more trigrams than the whole text.
		if most := float64(max(a, b)) / float64(len(query)); most >= words {
			c.bound = max(c.bound, most)
		}
		if c.bound > 0 {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.bound, a.bound), cmp.Compare(b.similarity, a.similarity),
			cmp.Compare(x.docs[a.doc].Key, x.docs[b.doc].Key), cmp.Compare(x.docs[a.doc].ID, x.docs[b.doc].ID))
	})
	return x.best(query, list, shared, threshold, words, limit)
}

// best measures the candidates, the most promising first, until no other can be among the
// best.
func (x *Index) best(query []trigram, list []candidate, shared []int32, threshold, words float64, limit int) []Hit {
	hits := make([]Hit, 0, min(limit, len(list)))
	measure := newMatcher(query)
	for _, c := range list {
		d := &x.docs[c.doc]
		if len(hits) == limit && Compare(hits[limit-1], Hit{d.Doc, c.bound, c.similarity}) < 0 {
			break
		}
		hit := Hit{Doc: d.Doc, Similarity: c.similarity}
		if c.similarity >= threshold {
			hit.Score = c.similarity
		}
		for i, text := range []string{d.Key, d.Summary} {
			// A smaller measure would not count, or not be among the best.
			least := max(words, hit.Score)
			if len(hits) == limit {
				least = max(least, hits[limit-1].Score)
			}
			if float64(shared[2*int(c.doc)+i])/float64(len(query)) < least {
				continue
			}
			if w := measure.similarity(text, least); w >= words {
				hit.Score = max(hit.Score, w)
			}
		}
		if hit.Score == 0 {
			continue
		}
		at := sort.Search(len(hits), func(i int) bool { return Compare(hit, hits[i]) < 0 })
		if at < limit {
			if len(hits) == limit {
				hits = hits[:limit-1]
			}
			hits = slices.Insert(hits, at, hit)
		}
	}
	return hits
}
