package llm

// PartKind says what a part of a message is.
type PartKind string

// The kinds of parts.
const (
	Image    PartKind = "image"
	Document PartKind = "document"
)

// Part is an image or a document in a message: its bytes, or where a provider
// fetches it.
type Part struct {
	Kind PartKind `json:"kind"`
	// MediaType is that of Data, such as image/png or application/pdf.
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
	// URL is http or https; p8 does not fetch it.
	URL string `json:"url,omitempty"`
	// Name is a file's name, for people and for models.
	Name string `json:"name,omitempty"`
	// Detail is how closely an image is looked at: low, high or auto (OpenAI).
	Detail string `json:"detail,omitempty"`
}

// Reasoning is one block of a model's thought. Other providers than the one that
// wrote it leave it out of what they are sent.
type Reasoning struct {
	// Provider is the wire that understands the rest: anthropic, gemini,
	// openai-responses, openai-chat.
	Provider string `json:"provider"`
	// ID is the block's id, where the wire has one.
	ID   string `json:"id,omitempty"`
	Text string `json:"text,omitempty"`
	// Signature is the provider's proof, or the whole thought where it is hidden;
	// Redacted says that it is the latter.
	Signature string `json:"signature,omitempty"`
	Redacted  bool   `json:"redacted,omitempty"`
}
