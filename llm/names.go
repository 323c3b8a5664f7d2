package llm

import "github.com/p8-org/p8/llm/internal/names"

// withoutClient is a well-known provider for which p8 has no client.
const withoutClient = "google-vertex"

// IsBare reports whether a name is a model's without its provider, such as
// gpt-4.1, which means openai:gpt-4.1.
func IsBare(name string) bool { return names.BareProvider(name) != "" }
