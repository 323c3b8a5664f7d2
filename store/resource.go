package store

import (
	"cmp"
	"strings"
)

func (x *Resource) fields(f *fields) {
	f.require("name", &x.Name)
	f.add("uri", &x.URI)
	f.require("ordinal", &x.Ordinal)
	f.require("content", &x.Content)
	f.add("category", &x.Category)
	f.add("image_uri", &x.ImageURI)
	f.add("comment", &x.Comment)
	f.add("related_entities", &x.RelatedEntities)
	f.add("rating", &x.Rating)
	f.add("file_id", &x.FileID)
	x.Base.fields(f)
}

func (x *Resource) identity() (column, value string) { return "name", x.Name }

func (x *Resource) entry() entry { return x.keyed(x.Name, cmp.Or(x.Content, x.Name)) }

func (x *Resource) check() error {
	return firstError(
		checkName(x.Name),
		cleanTexts("uri", &x.URI, "content", &x.Content, "category", &x.Category, "image_uri", &x.ImageURI,
			"comment", &x.Comment, "file_id", &x.FileID),
		cleanList("related_entities", x.RelatedEntities),
		checkRating(x.Rating, 1),
		x.Base.check(),
	)
}

func (x *Ontology) fields(f *fields) {
	f.require("name", &x.Name)
	f.add("uri", &x.URI)
	f.require("content", &x.Content)
	f.add("category", &x.Category)
	f.add("extracted_data", &x.ExtractedData)
	f.add("file_id", &x.FileID)
	f.add("agent_schema_id", &x.AgentSchemaID)
	f.add("confidence_score", &x.Confidence)
	f.add("content_hash", &x.Hash)
	x.Base.fields(f)
}

func (x *Ontology) identity() (column, value string) { return "name", x.Name }

func (x *Ontology) entry() entry { return x.keyed(x.Name, cmp.Or(x.Content, x.Name)) }

func (x *Ontology) check() error {
	if !(x.Confidence >= 0 && x.Confidence <= 1) {
		return invalidf("confidence_score must be 0-1")
	}
	return firstError(
		checkName(x.Name),
		cleanTexts("uri", &x.URI, "content", &x.Content, "category", &x.Category, "file_id", &x.FileID,
			"agent_schema_id", &x.AgentSchemaID, "content_hash", &x.Hash),
		checkJSON("extracted_data", &x.ExtractedData),
		x.Base.check(),
	)
}

func (x *File) fields(f *fields) {
	f.require("name", &x.Name)
	f.add("uri", &x.URI)
	f.add("mime_type", &x.MIMEType)
	f.require("size_bytes", &x.Size)
	f.add("parsed_content", &x.ParsedContent)
	f.add("parsed_output", &x.ParsedOutput)
	f.require("processing_status", &x.Status)
	f.add("thumbnail_uri", &x.ThumbnailURI)
	f.add("content_hash", &x.Hash)
	x.Base.fields(f)
}

func (x *File) identity() (column, value string) {
	if x.URI != "" {
		return "uri", x.URI
	}
	return "name", x.Name
}

func (x *File) entry() entry { return x.keyed(x.Name, cmp.Or(x.ParsedContent, x.Name)) }

func (x *File) check() error {
	x.Status = cmp.Or(x.Status, FilePending)
	switch x.Status {
	case FilePending, FileProcessing, FileCompleted, FileFailed:
	default:
		return invalidf("%.32q is not a processing_status: give %s", x.Status,
			strings.Join([]string{FilePending, FileProcessing, FileCompleted, FileFailed}, ", "))
	}
	if x.Size < 0 {
		return invalidf("size_bytes must not be negative")
	}
	return firstError(
		checkName(x.Name),
		cleanTexts("uri", &x.URI, "mime_type", &x.MIMEType, "parsed_content", &x.ParsedContent,
			"thumbnail_uri", &x.ThumbnailURI, "content_hash", &x.Hash),
		checkJSON("parsed_output", &x.ParsedOutput),
		x.Base.check(),
	)
}
