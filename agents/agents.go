// Package agents holds the documents that come with p8: general, the agent of a
// request that names no agent; sample-agent and default-agent, the smallest of each
// dialect; moment-builder, which sums up a part of a conversation; title-writer, which
// titles a conversation; dreaming-agent, which reflects on past sessions; user-model, which
// keeps a person's profile; rem-query-agent, which turns questions into queries. Those of
// kind evaluator (accuracy, faithfulness, tone, …) judge the answers of other agents.
//
// They are ordinary documents. Copy one to start an agent of your own. A person's own
// document of the same name takes its place for that person; a shared document cannot
// have a built-in name.
package agents

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml
var files embed.FS

// Files are the built-in documents, *.yaml in one folder.
func Files() fs.FS { return files }
