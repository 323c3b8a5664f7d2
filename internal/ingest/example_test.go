package ingest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/store/sqlite"
)

// A folder becomes pages, pieces and links. A second run writes changed files only.
func Example() {
	dir, err := os.MkdirTemp("", "ingest-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := identity.With(context.Background(), identity.Identity{UserID: identity.UserID("ada@example.com")})
	knowledge, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer knowledge.Close()
	in, err := ingest.New(ingest.Options{Store: ingest.Over(knowledge)})
	if err != nil {
		fmt.Println(err)
		return
	}

	team := filepath.Join(dir, "team.md")
	for _, text := range []string{"# Team\n\nAda leads.\n", "# Team\n\nAda leads.\n", "# Team\n\nGrace leads.\n"} {
		if err := os.WriteFile(team, []byte(text), 0o600); err != nil {
			fmt.Println(err)
			return
		}
		report, err := in.Paths(ctx, ingest.PathsOptions{Paths: []string{team}})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("written", report.Written, "unchanged", report.Unchanged)
	}

	report, err := in.Upload(ctx, ingest.Upload{Name: "prices.csv", Reader: strings.NewReader("item,price\ntea,3\n")})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("chunks", report.Chunks)
	found, err := knowledge.Lookup(ctx, "team")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, match := range found {
		fmt.Printf("%s %q\n", match.Key, match.Summary)
	}
	// Output:
	// written 1 unchanged 0
	// written 0 unchanged 1
	// written 1 unchanged 0
	// chunks 1
	// team "# Team\n\nGrace leads."
}
