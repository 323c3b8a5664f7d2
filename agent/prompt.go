package agent

import "strings"

// buildPrompt returns the system prompt in the layout of the document's dialect,
// without anything of a user. A structured agent's fields are left out: the model
// gets them as the output schema.
func (d *Document) buildPrompt(structured bool) string {
	parts := []string{d.Description, d.Extension}
	if d.SystemPrompt != d.Extension {
		parts = append(parts, d.SystemPrompt)
	}
	if d.Dialect == Flat {
		parts = append(parts, d.toolNotes())
	}
	switch {
	case structured:
	case d.Dialect == Flat:
		parts = append(parts, d.thinkingStructure())
	default:
		parts = append(parts, d.internalThinking())
	}
	kept := parts[:0]
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n\n")
}

// toolNotes lists the tools that have a description in the document (p8).
func (d *Document) toolNotes() string {
	var b strings.Builder
	for _, t := range d.Tools {
		if note := oneLine(t.Description); note != "" {
			b.WriteString("\n- **" + t.Name + "**: " + note)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "## Tool Notes" + b.String()
}

// thinkingStructure returns the block of flat documents (p8).
func (d *Document) thinkingStructure() string {
	fields := d.renderFields("# Each item:", "")
	if fields == "" {
		return ""
	}
	return "## Thinking Structure\n\n" +
		"Use these to guide your reasoning. Do NOT include these labels in output:\n\n" +
		"```yaml\n" + fields + "```\n\n" +
		"CRITICAL: Respond with conversational text only. Do NOT output field names, YAML, or JSON."
}

// internalThinking returns the block of nested documents (REM, REMLight): the user sees
// the field answer, the other fields are for the model alone.
func (d *Document) internalThinking() string {
	properties := d.root.Get("properties")
	if len(properties.List()) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Internal Thinking Structure (DO NOT output these labels)\n\n" +
		"Use this structure to organize your thinking, but ONLY output the answer content:\n\n")
	if answer := properties.Get("answer"); answer != nil {
		r := renderer{root: d.root}
		text := strings.TrimSpace(r.resolve(answer).description)
		if text == "" {
			text = "Your response"
		}
		b.WriteString("**OUTPUT (what the user sees):** " + text + "\n\n")
	}
	if fields := d.renderFields("# Each item has:", "answer"); fields != "" {
		b.WriteString("**INTERNAL (for your tracking only - do NOT include in output):**\n\n" +
			"Schema (use these EXACT field names):\n```yaml\n" + fields + "```\n\n")
	}
	b.WriteString("CRITICAL: Your response must be ONLY the conversational answer text.\n" +
		"Do NOT output field names like 'answer:' or JSON - just the response itself.")
	return b.String()
}

// checkPrompt refuses fields that do not fit into a prompt.
func (r *report) checkPrompt(d *Document) {
	fields := &renderer{root: d.root}
	fields.object(fields.resolve(d.root), 0, "")
	if m := fields.full; m != nil {
		r.errorf(m.Pos, "", "refer to long descriptions and enums from fewer fields",
			"the fields take more than %d bytes of the prompt once their references are written out", maxFieldBytes)
	}
}

// oneLine joins a text of several lines by spaces.
func oneLine(s string) string {
	if s = strings.TrimSpace(s); strings.ContainsAny(s, "\n\r") {
		return strings.Join(strings.Fields(s), " ")
	}
	return s
}
