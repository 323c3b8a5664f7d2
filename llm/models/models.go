// Package models has the context windows, prices and capabilities of chat models by
// name.
//
//	table, err := models.Load(models.Options{File: cfg.ModelsFile})
//	…
//	info, ok := table.Info("anthropic:claude-sonnet-4-5-20250929")
//	dollars := table.Cost("openai:gpt-4.1", usage)
//
// The table is embedded: models.yaml, which documents its columns and the day of its
// prices. A file can replace and add rows. A name that ends in a star matches all names
// with that beginning; the longest match counts, so dated versions of a model are found,
// and a smaller model is not mistaken for it. A provider with several names has one here,
// and models of Azure are looked up as OpenAI's.
//
// The cost of a model that is not in the table is 0, and Info reports it as unknown.
package models

import "github.com/p8-org/p8/llm"

// Info describes a model.
type Info struct {
	// Name is the row's name: provider:model, or with a star at its end.
	Name string `json:"name"`
	// Context is the most that the model reads and writes together, Output the most
	// that it writes, in tokens; 0 is unknown.
	Context int `json:"context,omitempty"`
	Output  int `json:"output,omitempty"`
	// Priced reports whether Price is known; a price may be 0.
	Priced bool  `json:"priced"`
	Price  Price `json:"price"`
	// Long is the price of requests with more than LongAbove tokens of input; it is
	// unset if LongAbove is 0.
	Long      Price `json:"long,omitzero"`
	LongAbove int   `json:"long_above,omitempty"`
	// What the model can do.
	Images       bool `json:"images,omitempty"`
	Documents    bool `json:"documents,omitempty"`
	Tools        bool `json:"tools,omitempty"`
	Reasoning    bool `json:"reasoning,omitempty"`
	NativeOutput bool `json:"native_output,omitempty"`
	// AsOf is the day of the row's prices, as 2025-12-31; "" if unknown.
	AsOf string `json:"as_of,omitempty"`
}

// Price is in US dollars for a million tokens.
type Price struct {
	Input      float64 `json:"input"`
	Cached     float64 `json:"cached"`
	CacheWrite float64 `json:"cache_write"`
	Output     float64 `json:"output"`
}

// hourPrice is the price of caching a token for an hour, as a multiple of the input
// price. Only Anthropic caches for an hour, at this price for all models.
const hourPrice = 2

// Cost returns the cost of a request with this usage in US dollars; 0 if the price is
// not known.
func (i *Info) Cost(u llm.Usage) float64 {
	p := i.Price
	if i.LongAbove > 0 && u.Input > i.LongAbove {
		p = i.Long
	}
	plain := max(0, u.Input-u.Cached-u.CacheWrite)
	return (float64(plain)*p.Input + float64(u.Cached)*p.Cached + float64(u.CacheWrite-u.CacheHour)*p.CacheWrite +
		float64(u.CacheHour)*hourPrice*p.Input + float64(u.Output)*p.Output) / 1e6
}
