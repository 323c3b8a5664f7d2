package event

// The bounds of the files in the event of a call: how many have data, and the bytes of
// their data together.
const (
	MaxFiles    = 8
	MaxFileData = 256 << 10
)

// File is a file that a tool returned, for clients that show it.
type File struct {
	// MediaType is image/…, audio/…, video/…, application/pdf or text/plain, unless
	// Omitted. It is never a type that a browser runs, such as image/svg+xml.
	MediaType string `json:"media_type"`
	// Name is the file's name without its folder, "" if it has none.
	Name string `json:"filename,omitempty"`
	// Size is the number of bytes, also without Data.
	Size int `json:"size"`
	// Data is the content, base64 in JSON. Streams of OpenAI leave it out.
	Data []byte `json:"data,omitempty"`
	// Omitted marks a file over the bounds, or of another type: it has no Data.
	Omitted bool `json:"omitted,omitempty"`
}
