package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// printed is a result as JSON.
type printed struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
	Failed bool   `json:"failed"`
	// Content is the text of the result, or its data.
	Content any        `json:"content"`
	Parts   []llm.Part `json:"parts,omitempty"`
}

// print prints a result. A failed one ends p8 with an error.
func (c *Call) print(a *command.App, res tool.Result) error {
	data := json.RawMessage(res.Content)
	isData := json.Valid(data) && bytes.ContainsAny(bytes.TrimSpace(data)[:1], "{[")
	if c.JSON {
		out := printed{Server: c.Server, Tool: c.Tool, Failed: res.Failed, Content: res.Content, Parts: res.Parts}
		if isData {
			out.Content = data
		}
		if err := show.JSON(a.Stdout, out); err != nil {
			return err
		}
		if res.Failed {
			return command.Fail(command.ExitFailed, command.ErrSilent)
		}
		return nil
	}
	if res.Failed {
		return errors.New(c.Tool + " failed: " + show.Visible(reasonOf(res.Content)))
	}
	if isData {
		var b bytes.Buffer
		if err := json.Indent(&b, data, "", "  "); err != nil {
			return err
		}
		res.Content = b.String()
	}
	if res.Content == "" {
		a.Say("%s gave no result", c.Tool)
		return nil
	}
	_, err := io.WriteString(a.Stdout, show.Visible(res.Content)+"\n")
	return err
}

// reasonOf returns the error of a failed result.
func reasonOf(content string) string {
	var said struct {
		Error string `json:"error"`
	}
	if json.Unmarshal([]byte(content), &said) == nil && said.Error != "" {
		return said.Error
	}
	return content
}

func inWords(d *event.ProgressData) string {
	if d.TotalSteps > 0 {
		return fmt.Sprintf("%s (%d of %d)", d.Label, d.Step, d.TotalSteps)
	}
	return d.Label
}
