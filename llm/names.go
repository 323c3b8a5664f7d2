package llm

import "github.com/p8-org/p8/llm/internal/names"

// withoutClient is the well-known provider that p8 has no client for.
const withoutClient = "google-vertex"

// IsBare reports whether a name is a model's without its provider, such as
// gpt-4.1, which means openai:gpt-4.1.
func IsBare(name string) bool { return names.BareProvider(name) != "" }
