package extract

import (
	"bytes"
	"mime"
	"net/http"
	"path"
	"strings"
)

// Format is the format of a file.
type Format string

// The formats.
const (
	Unknown  Format = ""
	Text     Format = "text"
	Markdown Format = "markdown"
	HTML     Format = "html"
	CSV      Format = "csv"
	JSON     Format = "json"
	YAML     Format = "yaml"
	Code     Format = "code"
	PDF      Format = "pdf"
	DOCX     Format = "docx"
)

const docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

// codeExtensions are those of programming languages and other line-based texts.
const codeExtensions = ` .go .py .pyi .js .mjs .cjs .jsx .ts .tsx .java .kt .kts .scala .c .h .cc .cpp .hpp .cs .rs .rb .php .swift .m .lua .r .jl
	.sh .bash .zsh .fish .ps1 .sql .proto .graphql .tf .hcl .css .scss .less .vue .svelte .ex .exs .erl .hs .ml .clj .dart .zig .pl .xml .toml .ini .cfg
	.conf .properties .mod .gradle .cmake .mk .diff .patch .svg `

// byExtension maps the extension of a name to the format and the MIME type.
func byExtension(name string) (Format, string) {
	base := strings.ToLower(path.Base(name))
	switch ext := path.Ext(base); ext {
	case ".md", ".markdown", ".mdx":
		return Markdown, "text/markdown"
	case ".html", ".htm", ".xhtml":
		return HTML, "text/html"
	case ".csv":
		return CSV, "text/csv"
	case ".tsv":
		return CSV, "text/tab-separated-values"
	case ".json":
		return JSON, "application/json"
	case ".yaml", ".yml":
		return YAML, "application/yaml"
	case ".pdf":
		return PDF, "application/pdf"
	case ".docx":
		return DOCX, docxType
	case ".txt", ".text", ".log", ".rst", ".adoc", ".org", ".tex", ".srt", ".vtt":
		return Text, "text/plain"
	case ".jsonl", ".ndjson":
		return Code, "application/x-ndjson"
	case "":
		switch base {
		case "makefile", "dockerfile", "jenkinsfile":
			return Code, "text/plain"
		case "license", "notice", "authors", "readme", "changelog":
			return Text, "text/plain"
		}
	default:
		if strings.Contains(codeExtensions, " "+ext+" ") || strings.Contains(codeExtensions, "\t"+ext+" ") ||
			strings.Contains(codeExtensions, " "+ext+"\n") {
			return Code, "text/plain"
		}
	}
	return Unknown, ""
}

// byType maps a MIME type to the format.
func byType(mimeType string) Format {
	t, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return Unknown
	}
	switch t {
	case "text/markdown", "text/x-markdown":
		return Markdown
	case "text/html", "application/xhtml+xml":
		return HTML
	case "text/csv", "text/tab-separated-values":
		return CSV
	case "application/json", "text/json":
		return JSON
	case "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml":
		return YAML
	case "application/pdf":
		return PDF
	case docxType:
		return DOCX
	}
	if strings.HasPrefix(t, "text/") {
		return Text
	}
	return Unknown
}

// Detect returns the format and the MIME type of a file: by its name, or by the given type,
// or by its first bytes. A file that begins like a PDF is one under any name.
func Detect(name, mimeType string, data []byte) (Format, string) {
	sniffed := http.DetectContentType(data[:min(len(data), 512)])
	if bytes.HasPrefix(data, []byte("%PDF-")) {
		return PDF, "application/pdf"
	}
	if f, t := byExtension(name); f != Unknown {
		return f, t
	}
	if f := byType(mimeType); f != Unknown {
		return f, mimeType
	}
	switch f := byType(sniffed); {
	case f == HTML:
		return HTML, "text/html"
	case f != Unknown && bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0:
		return Text, "text/plain"
	}
	return Unknown, sniffed
}
