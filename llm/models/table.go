package models

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/names"
)

//go:embed models.yaml
var embedded string

// Options configure a Table.
type Options struct {
	// File replaces and adds rows of the embedded table; "" for none.
	File string
}

// Table finds models by name. It does not change and is safe for concurrent use.
type Table struct {
	providers map[string]*rows
}

// rows are the models of one provider.
type rows struct {
	whole map[string]*Info
	// begin are those with a star, longest first.
	begin []beginning
}

type beginning struct {
	prefix string
	info   *Info
}

// Load reads the embedded table, then the file. The error has a line for each problem
// of the file, with its place and its fix.
func Load(o Options) (*Table, error) {
	t := &Table{providers: map[string]*rows{}}
	if err := t.add("models.yaml", embedded); err != nil {
		return nil, err
	}
	if o.File == "" {
		return t, nil
	}
	info, err := os.Stat(o.File)
	if err == nil && info.Size() > maxFile {
		return nil, fmt.Errorf("%s is larger than %d KiB: give a file of models like llm/models/models.yaml", o.File, maxFile>>10)
	}
	src, err := os.ReadFile(o.File)
	if err != nil {
		return nil, fmt.Errorf("the file of models cannot be read, look at P8_MODELS_FILE: %w", err)
	}
	if err := t.add(o.File, string(src)); err != nil {
		return nil, err
	}
	return t, nil
}

// add puts the rows of a file into the table. The fields that a row leaves out keep
// their values from before the file.
func (t *Table) add(file, src string) error {
	found, err := parse(file, src)
	if err != nil {
		return err
	}
	var infos []*Info
	for i := range found {
		for _, name := range found[i].names {
			before, _ := t.Info(strings.TrimSuffix(name, "*"))
			infos = append(infos, found[i].over(before, name))
		}
	}
	for _, info := range infos {
		t.put(info)
	}
	for _, r := range t.providers {
		arrange.By(r.begin, func(a, b beginning) int { return len(b.prefix) - len(a.prefix) })
	}
	return nil
}

// put adds a row, or replaces the row with the same name.
func (t *Table) put(info *Info) {
	provider, model, _ := strings.Cut(info.Name, ":")
	r := t.providers[provider]
	if r == nil {
		r = &rows{whole: map[string]*Info{}}
		t.providers[provider] = r
	}
	prefix, star := strings.CutSuffix(model, "*")
	if !star {
		r.whole[model] = info
		return
	}
	i := slices.IndexFunc(r.begin, func(b beginning) bool { return b.prefix == prefix })
	if i >= 0 {
		r.begin[i].info = info
		return
	}
	r.begin = append(r.begin, beginning{prefix, info})
}

// Info returns the row of the model named "provider:model", or by a bare name (see
// llm.IsBare).
func (t *Table) Info(name string) (Info, bool) {
	if info := t.find(name); info != nil {
		return *info, true
	}
	return Info{}, false
}

// Cost returns the cost of a request to the model in US dollars; 0 if the model or its
// price is not known.
func (t *Table) Cost(name string, u llm.Usage) float64 {
	if info := t.find(name); info != nil {
		return info.Cost(u)
	}
	return 0
}

// List returns every row, sorted by name.
func (t *Table) List() []Info {
	var all []Info
	for _, r := range t.providers {
		for _, info := range r.whole {
			all = append(all, *info)
		}
		for _, b := range r.begin {
			all = append(all, *b.info)
		}
	}
	arrange.By(all, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (t *Table) find(name string) *Info {
	provider, model, found := strings.Cut(name, ":")
	if !found {
		provider, model = names.BareProvider(name), name
	}
	provider = names.Provider(strings.ToLower(provider))
	if info := t.providers[provider].find(model); info != nil {
		return info
	}
	return t.providers[maker(provider)].find(model)
}

func (r *rows) find(model string) *Info {
	if r == nil {
		return nil
	}
	if info := r.whole[model]; info != nil {
		return info
	}
	for i := range r.begin {
		if strings.HasPrefix(model, r.begin[i].prefix) {
			return r.begin[i].info
		}
	}
	return nil
}

// maker returns the provider whose models another provider hosts; "" for providers
// with rows of their own.
func maker(provider string) string {
	switch provider {
	case "azure", "openai-responses":
		return "openai"
	case "google-vertex":
		return "gemini"
	}
	return ""
}
