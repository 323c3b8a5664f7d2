// Package models knows chat models by name: how much they read and write, what
// they cost and what they can do.
//
//	table, err := models.Load(models.Options{File: cfg.ModelsFile})
//	…
//	info, ok := table.Info("anthropic:claude-sonnet-4-5-20250929")
//	dollars := table.Cost("openai:gpt-4.1", usage)
//
// The table is data, embedded: models.yaml, which says what its columns mean and
// of which day its prices are. A file of one's own corrects and extends it. A
// name with a star at its end stands for all that begin alike; the longest that
// fits counts, so dated versions of a model are found and its little sister is
// not taken for it. A provider with several names has one here, and models of
// Azure are looked up as OpenAI's.
//
// What is not in the table is not guessed: its cost is 0 and Info says so.
package models

import "github.com/p8-org/p8/llm"

// Info is what is known about a model.
type Info struct {
	// Name is that of the row: provider:model, or with a star at its end.
	Name string `json:"name"`
	// Context is what the model reads and writes together, Output what it writes,
	// in tokens; 0 is unknown.
	Context int `json:"context,omitempty"`
	Output  int `json:"output,omitempty"`
	// Priced says that Price is known; a price may be 0.
	Priced bool  `json:"priced"`
	Price  Price `json:"price"`
	// Long is the price of requests whose input is longer than LongAbove tokens;
	// there is none when that is 0.
	Long      Price `json:"long,omitzero"`
	LongAbove int   `json:"long_above,omitempty"`
	// What the model can do.
	Images       bool `json:"images,omitempty"`
	Documents    bool `json:"documents,omitempty"`
	Tools        bool `json:"tools,omitempty"`
	Reasoning    bool `json:"reasoning,omitempty"`
	NativeOutput bool `json:"native_output,omitempty"`
	// AsOf is the day of the row, as 2025-12-31; "" if its file does not tell.
	AsOf string `json:"as_of,omitempty"`
}

// Price is in US dollars for a million tokens.
type Price struct {
	Input      float64 `json:"input"`
	Cached     float64 `json:"cached"`
	CacheWrite float64 `json:"cache_write"`
	Output     float64 `json:"output"`
}

// hourPrice is what it costs to keep a token for an hour, in prices of one that is
// sent. Anthropic alone does so, for all of its models alike.
const hourPrice = 2

// Cost is what a request with this usage costs in US dollars; 0 when the price
// is not known.
func (i *Info) Cost(u llm.Usage) float64 {
	p := i.Price
	if i.LongAbove > 0 && u.Input > i.LongAbove {
		p = i.Long
	}
	plain := max(0, u.Input-u.Cached-u.CacheWrite)
	return (float64(plain)*p.Input + float64(u.Cached)*p.Cached + float64(u.CacheWrite-u.CacheHour)*p.CacheWrite +
		float64(u.CacheHour)*hourPrice*p.Input + float64(u.Output)*p.Output) / 1e6
}
