package offline_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/docs"
	"github.com/p8-org/p8/internal/embed/offline"
)

// asked are realistic questions, and the page that answers each.
var asked = []struct{ question, page string }{
	{"what does exit code 2 mean", "command-line"},
	{"chat with an agent from the terminal", "command-line"},
	{"which flags does p8 chat take", "command-line"},
	{"how does the browser receive tool calls while the answer streams", "events"},
	{"order of the events of a run", "events"},
	{"install p8 and say hello", "getting-started"},
	{"start the server", "getting-started"},
	{"my first agent", "getting-started"},
	{"use p8 as a Go library", "go-packages"},
	{"import the packages into my own program", "go-packages"},
	{"POST chat completions with curl", "http-api"},
	{"what does an error response look like", "http-api"},
	{"health check route", "http-api"},
	{"connect to Ollama", "models"},
	{"use an OpenAI compatible server of my own", "models"},
	{"answers without any language model", "models"},
	{"set the temperature of a request", "models"},
	{"find a misspelt name", "search"},
	{"LOOKUP several keys", "search"},
	{"threshold of fuzzy search", "search"},
	{"where are conversations stored", "sessions"},
	{"who may read my messages", "sessions"},
	{"list the messages of a session", "sessions"},
	{"environment variable for the data folder", "settings"},
	{"precedence of .env and the environment", "settings"},
	{"make the model answer as JSON of my schema", "structured-output"},
	{"native response_format or a tool for structured answers", "structured-output"},
	{"how many tool calls run at the same time", "tools"},
	{"what is the action tool for", "tools"},
	{"fields of an agent document", "write-an-agent"},
	{"validate a YAML agent before using it", "write-an-agent"},
	{"difference between flat and nested documents", "write-an-agent"},
}

type chunk struct {
	page, text string
	vector     []float32
}

// chunks are the paragraphs of the documentation, each with its headings, up to
// some 800 bytes.
func chunks(t testing.TB) []chunk {
	t.Helper()
	pages, err := docs.Pages()
	if err != nil {
		t.Fatal(err)
	}
	var all []chunk
	for _, p := range pages {
		for _, section := range strings.Split("\n"+p.Text, "\n## ") {
			heading, _, _ := strings.Cut(strings.TrimSpace(section), "\n")
			text := ""
			for _, paragraph := range strings.Split(section, "\n\n") {
				if text != "" && len(text)+len(paragraph) > 800 {
					all = append(all, chunk{page: p.Key, text: p.Title + " " + text})
					text = heading + "\n"
				}
				text += paragraph + "\n\n"
			}
			all = append(all, chunk{page: p.Key, text: p.Title + " " + text})
		}
	}
	return all
}

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// TestFindsTheDocumentation: the answering page is among the first results. With -v it logs
// how often, and the similarity of right and wrong pages, from which MinSimilarity is
// chosen.
func TestFindsTheDocumentation(t *testing.T) {
	for _, dimensions := range []int{384, 1536} {
		m, err := offline.New(offline.Options{Dimensions: dimensions})
		if err != nil {
			t.Fatal(err)
		}
		all := chunks(t)
		for i := range all {
			all[i].vector = vector(t, m, all[i].text)
		}
		hits := map[int]int{}
		var right, wrong []float64
		for _, q := range asked {
			v := vector(t, m, q.question)
			near := slices.Clone(all)
			slices.SortStableFunc(near, func(a, b chunk) int { return cmp.Compare(cosine(v, b.vector), cosine(v, a.vector)) })
			at := slices.IndexFunc(near, func(c chunk) bool { return c.page == q.page })
			for _, k := range []int{1, 3, 10} {
				if at < k {
					hits[k]++
				}
			}
			if at >= 3 {
				t.Logf("%d: %q found at %d, %.3f; first %s %.3f", dimensions, q.question, at+1, cosine(v, near[at].vector), near[0].page, cosine(v, near[0].vector))
			}
			right = append(right, cosine(v, near[at].vector))
			for _, c := range near {
				if c.page != q.page {
					wrong = append(wrong, cosine(v, c.vector))
				}
			}
		}
		slices.Sort(right)
		slices.Sort(wrong)
		at := func(s []float64, q float64) float64 { return math.Round(1000*s[int(q*float64(len(s)-1))]) / 1000 }
		t.Logf("%d dimensions, %d pieces, %d questions: found first %d, in 3 %d, in 10 %d; similarity of the right piece: 10%% below %v, median %v; of the pieces of other pages: median %v, 90%% %v, 99%% %v",
			dimensions, len(all), len(asked), hits[1], hits[3], hits[10], at(right, 0.1), at(right, 0.5), at(wrong, 0.5), at(wrong, 0.9), at(wrong, 0.99))
		if hits[10] < len(asked)*9/10 {
			t.Errorf("%d dimensions: only %d of %d pages are among the first ten", dimensions, hits[10], len(asked))
		}
	}
}

func vector(t testing.TB, m *offline.Model, text string) []float32 {
	t.Helper()
	v, err := m.EmbedQuery(t.Context(), text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}
