package a2a

import "encoding/json"

// The states of a task.
const (
	stateWorking       = "TASK_STATE_WORKING"
	stateCompleted     = "TASK_STATE_COMPLETED"
	stateFailed        = "TASK_STATE_FAILED"
	stateCanceled      = "TASK_STATE_CANCELED"
	stateInputRequired = "TASK_STATE_INPUT_REQUIRED"
	stateAuthRequired  = "TASK_STATE_AUTH_REQUIRED"
)

// The roles of messages.
const (
	roleUser  = "ROLE_USER"
	roleAgent = "ROLE_AGENT"
)

type task struct {
	ID        string         `json:"id"`
	ContextID string         `json:"contextId"`
	Status    status         `json:"status"`
	Artifacts []artifact     `json:"artifacts,omitempty"`
	History   []message      `json:"history,omitempty"`
	Metadata  map[string]any `json:"metadata,omitempty"`
}

type status struct {
	State     string   `json:"state"`
	Message   *message `json:"message,omitempty"`
	Timestamp string   `json:"timestamp,omitempty"`
}

type message struct {
	MessageID string `json:"messageId"`
	ContextID string `json:"contextId,omitempty"`
	TaskID    string `json:"taskId,omitempty"`
	Role      string `json:"role"`
	Parts     []part `json:"parts"`
	// Metadata of a client's message describe the session.
	Metadata map[string]any `json:"metadata,omitempty"`
}

// part is a text, data, bytes or an address.
type part struct {
	Text      *string         `json:"text,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	Raw       []byte          `json:"raw,omitempty"`
	URL       string          `json:"url,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Filename  string          `json:"filename,omitempty"`
	// File has the bytes or the address in version 0.3.
	File *file `json:"file,omitempty"`
}

type file struct {
	Bytes    []byte `json:"bytes,omitempty"`
	URI      string `json:"uri,omitempty"`
	MimeType string `json:"mimeType,omitempty"`
	Name     string `json:"name,omitempty"`
}

func textPart(s string) part { return part{Text: &s} }

type artifact struct {
	ArtifactID string `json:"artifactId"`
	Name       string `json:"name,omitempty"`
	Parts      []part `json:"parts"`
}

// update is one frame of a stream; one of the three is set.
type update struct {
	Task     *task           `json:"task,omitempty"`
	Status   *statusUpdate   `json:"statusUpdate,omitempty"`
	Artifact *artifactUpdate `json:"artifactUpdate,omitempty"`
}

type statusUpdate struct {
	TaskID    string         `json:"taskId"`
	ContextID string         `json:"contextId"`
	Status    status         `json:"status"`
	Metadata  map[string]any `json:"metadata,omitempty"`
}

type artifactUpdate struct {
	TaskID    string         `json:"taskId"`
	ContextID string         `json:"contextId"`
	Artifact  artifact       `json:"artifact"`
	Append    bool           `json:"append,omitempty"`
	LastChunk bool           `json:"lastChunk,omitempty"`
	Metadata  map[string]any `json:"metadata,omitempty"`
}

// sendParams are the parameters of SendMessage and SendStreamingMessage.
type sendParams struct {
	Message       *message `json:"message"`
	Configuration struct {
		// ReturnImmediately answers while the task is under way; Blocking is its
		// opposite in version 0.3.
		ReturnImmediately bool  `json:"returnImmediately"`
		Blocking          *bool `json:"blocking"`
		HistoryLength     *int  `json:"historyLength"`
		// Hook is a webhook for the task, OldHook that of version 0.3.
		Hook    *hook    `json:"taskPushNotificationConfig"`
		OldHook *oldHook `json:"pushNotificationConfig"`
	} `json:"configuration"`
}

// atOnce reports whether the client does not want to wait for the end.
func (p *sendParams) atOnce() bool {
	c := p.Configuration
	return c.ReturnImmediately || c.Blocking != nil && !*c.Blocking
}

// taskParams are the parameters of the methods that name a task.
type taskParams struct {
	ID            string `json:"id"`
	HistoryLength *int   `json:"historyLength"`
}

// sendResult is the answer of SendMessage.
type sendResult struct {
	Task *task `json:"task"`
}
