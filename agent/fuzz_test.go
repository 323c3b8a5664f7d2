package agent_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/p8-org/p8/agent"
)

// FuzzParse: no source panics; a document that is read compiles, and written
// out it is read again as the same value.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"../testdata/agents/*.*", "../agents/*.yaml", "testdata/problems/*.*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Add([]byte("name: &a x\ndescription: *a\n<<: {tools: [search]}\n? k\n: v\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := agent.Parse("fuzz.yaml", src)
		if err != nil {
			var problems agent.Problems
			if !errors.As(err, &problems) || problems.Error() == "" || problems.Detail() == "" {
				t.Fatalf("the error is %T %v", err, err)
			}
			return
		}
		a, err := agent.Compile(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.ValidateOutput(t.Context(), []byte(`{"a": [1, null, "x"]}`)); err != nil {
			t.Fatal(err)
		}
		if a.Name == "" || !json.Valid(d.OutputSchema(true)) {
			t.Fatalf("name %q, schema %s", a.Name, d.Schema)
		}
		checkRoundTrip(t, d, "")
	})
}
