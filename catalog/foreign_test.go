package catalog_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/catalog"
)

const team = `agents:
  helper: {instruction: You help., toolsets: [{type: shell}]}
  root: {instruction: You lead., sub_agents: [helper]}
`

const subAgent = "---\nname: reviewer\ndescription: Reads a change\ntools: Read\n---\nYou review.\n"

// TestFilesOfOtherPrograms: a folder with them is like one with documents.
func TestFilesOfOtherPrograms(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "team.yaml", team)
	write(t, dir, "reviewer.md", subAgent)
	write(t, dir, "README.md", "# These agents\n\nname: nobody\n")
	write(t, dir, "large.md", strings.Repeat("A page of a megabyte.\n", 100_000))
	write(t, dir, "zero.yaml", document("general", "In the place of the built-in one."))
	rows := &table{}
	c := newCatalog(t, catalog.Options{Dir: dir, Store: rows})
	for name, want := range map[string]string{"reviewer": "You review.", "team": "You lead.", "helper": "You help."} {
		if got := prompt(t, c, name); strings.TrimSpace(got) != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	lead, err := c.Agent(caller(t), "team")
	must(t, err)
	if d := lead.Document; len(d.Agents) != 1 || d.Agents[0].Name != "helper" || d.Tools[0].Name != "ask_agent" {
		t.Errorf("%+v, %+v", d.Agents, d.Tools)
	}
	list, err := c.List(caller(t), "agent")
	must(t, err)
	var got []string
	for _, e := range list {
		if e.Origin == catalog.File {
			got = append(got, e.Name+" "+e.Format)
		}
	}
	if want := []string{"helper docker-agent", "reviewer claude-code", "team docker-agent"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// Rows hold p8's documents: SQL, GET /schemas and other processes know no other format.
	must(t, c.Sync(caller(t)))
	row, err := rows.Schema(caller(t), "reviewer")
	must(t, err)
	if !strings.HasPrefix(row.Source, "type: object\nname: reviewer\n") || row.Origin != catalog.File {
		t.Errorf("%+v", row)
	}
}

// TestFilesOfOtherProgramsFollow: each look-up sees the files as they are.
func TestFilesOfOtherProgramsFollow(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.md", subAgent)
	c := newCatalog(t, catalog.Options{Dir: dir})
	prompt(t, c, "reviewer")
	write(t, dir, "a.md", strings.Replace(subAgent, "You review.", "You read.", 1))
	if got := prompt(t, c, "reviewer"); got != "You read." {
		t.Errorf("%q", got)
	}
	write(t, dir, "a.md", "# A page now\n")
	if _, err := c.Agent(caller(t), "reviewer"); err == nil {
		t.Error("the agent of a file that is a page now is still there")
	}
	write(t, dir, "a.md", strings.Replace(subAgent, "tools: Read", "tools: [Read", 1))
	if _, err := c.Agent(caller(t), "a"); err == nil || !strings.Contains(err.Error(), "a.md:4:8: this is not valid YAML") {
		t.Errorf("%v", err)
	}
	write(t, dir, "a.yaml", team)
	prompt(t, c, "helper")
	must(t, os.Remove(filepath.Join(dir, "a.yaml")))
	if _, err := c.Agent(caller(t), "helper"); err == nil {
		t.Error("an agent of a deleted team is still there")
	}
}

// TestGivenTeam: all agents of a given file take precedence.
func TestGivenTeam(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "general.yaml", team)
	c := newCatalog(t, catalog.Options{Document: filepath.Join(dir, "general.yaml")})
	if got := prompt(t, c, "general"); got != "You lead." {
		t.Errorf("%q", got)
	}
	if !c.Given("helper") || c.Given("query-agent") {
		t.Error("the agents of the file are not the given ones")
	}
}
