package bench

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/p8-org/p8/internal/testkit/corpus"
)

// BenchmarkKnowledgeLookup is LOOKUP in the dialect and in the store, beside the
// driver's own reading of the same row by its primary key, and by its key with
// the statement that does the same work at once.
func BenchmarkKnowledgeLookup(b *testing.B) {
	onBoth(b, func(b *testing.B, k *knowledge) {
		ids := make([]string, k.entities)
		for id, i := range k.places {
			if i < k.entities {
				ids[i] = id
			}
		}
		at := func(i int) int { return i * 7919 % k.entities }
		b.Run("rem", func(b *testing.B) {
			measure(b, func(i int) { run(b, k.rem, as(bigTenant), "LOOKUP "+corpus.Key(at(i)), 1) })
		})
		b.Run("store", func(b *testing.B) {
			measure(b, func(i int) {
				if list, err := k.Lookup(as(bigTenant), corpus.Key(at(i))); err != nil || len(list) != 1 {
					b.Fatal(len(list), err)
				}
			})
		})
		k.bareQuery(b, "raw by id", 1, func(i int) (string, []any) {
			return `SELECT * FROM resources WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`, []any{bigTenant, ids[at(i)]}
		})
		k.bareQuery(b, "raw by key", 1, func(i int) (string, []any) {
			return `SELECT r.* FROM kv_store k JOIN resources r ON r.tenant_id = k.tenant_id AND r.id = k.entity_id AND r.deleted_at IS NULL
				WHERE k.tenant_id = $1 AND k.owner = '' AND k.entity_key = $2 AND k.entity_type = 'resource'`, []any{bigTenant, corpus.Key(at(i))}
		})
	})
}

// bareQuery measures a statement on the driver alone.
func (k *knowledge) bareQuery(b *testing.B, name string, want int, query func(i int) (string, []any)) {
	b.Run(name, func(b *testing.B) {
		measure(b, func(i int) {
			sql, args := query(i)
			if n, err := k.raw.query(b.Context(), sql, args...); err != nil || n < want {
				b.Fatalf("%d rows: %v", n, err)
			}
		})
	})
}

// BenchmarkKnowledgeFuzzy is FUZZY with texts as people type them, and its recall
// against the exact ranking; on PostgreSQL beside its GIN index alone, asked for
// the similarity that pg_trgm's operator has, and for the word similarity too, as
// FUZZY does.
func BenchmarkKnowledgeFuzzy(b *testing.B) {
	onBoth(b, func(b *testing.B, k *knowledge) {
		for _, kind := range fuzzyKinds {
			texts := fuzzyQuestions(kind, 40, k.entities)
			b.Run(kind, func(b *testing.B) {
				recall := k.fuzzyRecall(b, texts)
				measure(b, func(i int) {
					run(b, k.rem, as(bigTenant), "FUZZY "+quoted(texts[i%len(texts)]), 0)
				})
				b.ReportMetric(recall, "recall@10")
			})
			if k.engine != onPostgres {
				continue
			}
			k.bareQuery(b, kind+"/raw", 0, func(i int) (string, []any) {
				return rawFuzzy(``, ``), []any{bigTenant, texts[i%len(texts)]}
			})
			k.bareQuery(b, kind+"/raw with words", 0, func(i int) (string, []any) {
				return rawFuzzy(` OR entity_key %> $2 OR content_summary %> $2`,
					`, word_similarity($2, entity_key), word_similarity($2, content_summary)`), []any{bigTenant, texts[i%len(texts)]}
			})
		}
	})
}

// rawFuzzy is the usual query by pg_trgm's index.
func rawFuzzy(conditions, measures string) string {
	return `SELECT entity_key, entity_type, entity_id, content_summary,
		greatest(similarity(entity_key, $2), similarity(content_summary, $2)` + measures + `) AS score FROM kv_store
		WHERE tenant_id = $1 AND owner = '' AND (entity_key % $2 OR content_summary % $2` + conditions + `) ORDER BY score DESC LIMIT 10`
}

// BenchmarkKnowledgeSearch is SEARCH, whole rows included, by vectors that are
// there already: over all, in a tenant that has a hundredth of the rows, in a
// category; and its recall against the exact ranking. On PostgreSQL beside its
// HNSW index alone, without and with reading the rows.
func BenchmarkKnowledgeSearch(b *testing.B) {
	onBoth(b, func(b *testing.B, k *knowledge) {
		for _, dimensions := range []int{384, 1536} {
			b.Run(strconv.Itoa(dimensions), func(b *testing.B) {
				texts, vectors := k.searches(b, dimensions, 40)
				recall := k.searchRecall(b, dimensions, texts, vectors)
				e := k.asking(dimensions, vectors)
				for _, f := range k.filters() {
					b.Run(f.name, func(b *testing.B) {
						measure(b, func(i int) {
							run(b, e, as(f.tenant), "SEARCH "+quoted(texts[i%len(texts)])+f.clause, 1)
						})
						b.ReportMetric(recall[f.name], "recall@10")
					})
				}
				b.Run("hybrid", func(b *testing.B) {
					words := fuzzyQuestions("words", len(texts), k.entities)
					named := make(map[string][]float32)
					for i, text := range texts {
						named[words[i]] = vectors[text]
					}
					e := k.asking(dimensions, named)
					measure(b, func(i int) {
						run(b, e, as(bigTenant), "SEARCH "+quoted(words[i%len(words)])+" HYBRID", 1)
					})
				})
				if k.engine == onPostgres {
					k.rawSearch(b, dimensions, texts, vectors)
				}
			})
		}
	})
}

func (k *knowledge) rawSearch(b *testing.B, dimensions int, texts []string, vectors map[string][]float32) {
	// The candidates that SEARCH looks at, and what pgvector offers for filters.
	k.set(b, `SET hnsw.ef_search = 100`)
	nearest := func(where string) string {
		return fmt.Sprintf(`SELECT tenant_id, entity_id, embedding::vector(%[1]d) <=> $1::vector(%[1]d) AS distance FROM embeddings e
			WHERE table_name = 'resources' AND model = '%[2]s' AND dimensions = %[1]d%[3]s
			ORDER BY embedding::vector(%[1]d) <=> $1::vector(%[1]d) LIMIT 10`, dimensions, model(dimensions), where)
	}
	ask := func(name, sql string) {
		k.bareQuery(b, name, 1, func(i int) (string, []any) { return sql, []any{vectors[texts[i%len(texts)]]} })
	}
	ask("raw", nearest(``))
	ask("raw with rows", `SELECT r.*, n.distance FROM (`+nearest(``)+`) n
		JOIN resources r ON r.tenant_id = n.tenant_id AND r.id = n.entity_id ORDER BY n.distance`)
	k.set(b, `SET hnsw.iterative_scan = strict_order`)
	ask("raw tenant of 1 percent", nearest(` AND tenant_id = '`+smallTenant+`'`))
	ask("raw category of 2 percent", nearest(` AND tenant_id = '`+bigTenant+`'
		AND EXISTS (SELECT FROM resources r WHERE r.tenant_id = e.tenant_id AND r.id = e.entity_id AND r.category = 'topic-7')`))
	k.set(b, `RESET hnsw.iterative_scan`)
}

// BenchmarkKnowledgeTraverse walks three edges deep: forty rows.
func BenchmarkKnowledgeTraverse(b *testing.B) {
	onBoth(b, func(b *testing.B, k *knowledge) {
		for _, depth := range []int{1, 3} {
			want := []int{1: 4, 3: 40}[depth]
			b.Run(fmt.Sprint("depth ", depth), func(b *testing.B) {
				measure(b, func(i int) {
					// The roots of trees that do not meet.
					run(b, k.rem, as(bigTenant), fmt.Sprintf("TRAVERSE %s DEPTH %d LIMIT 50", corpus.Key(i%30), depth), want)
				})
			})
		}
	})
}

// BenchmarkKnowledgeSQL is a SELECT by name, and one that counts every row.
func BenchmarkKnowledgeSQL(b *testing.B) {
	onBoth(b, func(b *testing.B, k *knowledge) {
		b.Run("by name", func(b *testing.B) {
			measure(b, func(i int) {
				run(b, k.rem, as(bigTenant), "SQL SELECT name, category FROM resources WHERE name = '"+corpus.Name(i*7919%k.entities)+"'", 1)
			})
		})
		b.Run("count", func(b *testing.B) {
			measure(b, func(int) {
				run(b, k.rem, as(bigTenant), "SQL SELECT category, count(*) FROM resources GROUP BY category", corpus.Topics)
			})
		})
	})
}
