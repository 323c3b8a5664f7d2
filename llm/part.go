package llm

// PartKind is the kind of a part.
type PartKind string

// The kinds of parts.
const (
	Image    PartKind = "image"
	Document PartKind = "document"
)

// Part is an image or a document in a message: its bytes, or a URL that the provider
// fetches.
type Part struct {
	Kind PartKind `json:"kind"`
	// MediaType is the type of Data, such as image/png or application/pdf.
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
	// URL is http or https; p8 does not fetch it.
	URL string `json:"url,omitempty"`
	// Name is a file's name, for people and for models.
	Name string `json:"name,omitempty"`
	// Detail is the resolution for an image: low, high or auto (OpenAI).
	Detail string `json:"detail,omitempty"`
}

// Reasoning is one block of a model's reasoning. It is sent back only to the provider
// that wrote it.
type Reasoning struct {
	// Provider is the protocol of the other fields: anthropic, gemini,
	// openai-responses, openai-chat.
	Provider string `json:"provider"`
	// ID is the block's id, if the protocol has one.
	ID   string `json:"id,omitempty"`
	Text string `json:"text,omitempty"`
	// Signature is the provider's signature or, if Redacted, the encrypted reasoning.
	Signature string `json:"signature,omitempty"`
	Redacted  bool   `json:"redacted,omitempty"`
}
