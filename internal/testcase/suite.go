package testcase

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/diff"
	"github.com/p8-org/p8/internal/replay"
)

// World is where a case happens. *chat.Service is one.
type World interface {
	Start(ctx context.Context, r chat.Request) (*chat.Turn, error)
}

// Files are the files beside the cases.
type Files interface {
	// Read fails with fs.ErrNotExist if there is no such file.
	Read(path string) ([]byte, error)
	// Write makes the folder of the file, too.
	Write(path string, text []byte) error
}

// Options configure a Suite. Open and Files are required.
type Options struct {
	Files Files
	// Open makes a world with nothing in it but what the case loads, whose models and tools
	// are behind the tape and whose clock stands at a time. ctx has the caller. close ends it.
	Open func(ctx context.Context, c *Case, tape *replay.Tape, at time.Time) (w World, close func(), err error)
	// Record records the traffic of each case anew. Accept takes changed requests into the
	// recordings, Update writes the golden files.
	Record, Accept, Update bool
	// Clean removes secrets; see package replay.
	Clean func(string) string
	// Parallel is how many cases run at a time; 1 when 0.
	Parallel int
}

// Suite runs cases.
type Suite struct{ o Options }

// New makes a Suite.
func New(o Options) *Suite { return &Suite{o} }

// Result is what came of a case.
type Result struct {
	Case *Case
	// Problems are why the case failed; none if it passed.
	Problems []Problem
	// Notes say what was written.
	Notes []string
	// Took is how long the case took now, Recorded how long its turns took when they were
	// recorded.
	Took, Recorded time.Duration
	Turns          int
	Requests       int
	Tokens         int
	CostUSD        float64
}

// Problem is one reason why a case failed.
type Problem struct {
	// Line is where the file says what was expected; 0 is the case.
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
	// Diff has lines that differ, "" for none.
	Diff string `json:"diff,omitempty"`
	// Next says what to do, "" if the text does.
	Next string `json:"next,omitempty"`
}

// Run runs the cases and calls done for each, in their order.
func (s *Suite) Run(ctx context.Context, cases []*Case, done func(Result)) {
	results := make([]chan Result, len(cases))
	for i := range results {
		results[i] = make(chan Result, 1)
	}
	slots := make(chan struct{}, max(1, s.o.Parallel))
	var wait sync.WaitGroup
	wait.Go(func() {
		for i, c := range cases {
			slots <- struct{}{}
			wait.Go(func() {
				results[i] <- s.run(ctx, c)
				<-slots
			})
		}
	})
	for _, r := range results {
		done(<-r)
	}
	wait.Wait()
}

func (s *Suite) run(ctx context.Context, c *Case) Result {
	began := time.Now()
	r := &Result{Case: c, Turns: len(c.Turns)}
	if err := s.test(ctx, c, r); err != nil {
		r.fail(0, "", "", "%v", err)
	}
	r.Took = time.Since(began)
	return *r
}

func (r *Result) fail(line int, diff, next, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{line, fmt.Sprintf(format, args...), diff, next})
}

// test runs a case in the way that the options ask for.
func (s *Suite) test(ctx context.Context, c *Case, r *Result) error {
	if s.o.Record {
		if err := s.record(ctx, c, r); err != nil || len(r.Problems) > 0 {
			return err
		}
	}
	tape, err := s.insert(c)
	if errors.Is(err, fs.ErrNotExist) {
		r.fail(0, "", "p8 test --record "+c.File+" records it with the model that is configured", "the case is not recorded")
		return nil
	}
	if err != nil {
		return err
	}
	turns, err := s.play(ctx, c, tape)
	if err != nil {
		return err
	}
	if drifts := tape.Drifts(); len(drifts) > 0 && s.o.Accept {
		accepted, err := tape.Accept()
		if err != nil {
			return err
		}
		if err := s.store(c, accepted, r); err != nil {
			return err
		}
		if tape, err = s.insert(c); err != nil {
			return err
		}
		if turns, err = s.play(ctx, c, tape); err != nil {
			return err
		}
	}
	s.judge(ctx, c, turns, tape.Drifts(), r)
	return nil
}

// insert returns a tape that plays the recording of a case.
func (s *Suite) insert(c *Case) (*replay.Tape, error) {
	src, err := s.o.Files.Read(c.Cassette())
	if err != nil {
		return nil, unreadable(c.Cassette(), err)
	}
	cassette, err := replay.Unmarshal(c.Cassette(), src)
	if err != nil {
		return nil, err
	}
	return replay.Play(cassette, replay.Options{Clean: s.clean(c)}), nil
}

// clean returns the function that removes secrets, and the folders of this machine, from the
// texts of a case.
func (s *Suite) clean(c *Case) func(string) string {
	var pairs []string
	for _, path := range c.Load {
		whole, err := filepath.Abs(filepath.Join(filepath.Dir(c.File), filepath.FromSlash(path)))
		if err == nil {
			pairs = append(pairs, filepath.ToSlash(whole), path)
		}
	}
	folders := strings.NewReplacer(pairs...)
	return func(text string) string {
		text = folders.Replace(text)
		if s.o.Clean != nil {
			text = s.o.Clean(text)
		}
		return text
	}
}

// unreadable returns the error of a file without the words of the system.
func unreadable(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fs.ErrNotExist
	}
	return fmt.Errorf("%s cannot be read: make it a file that you may read", path)
}

// record records a case, unless a turn failed.
func (s *Suite) record(ctx context.Context, c *Case, r *Result) error {
	tape := replay.Record(replay.Options{Clean: s.clean(c)})
	at := c.Now
	if at.IsZero() {
		at = time.Now().UTC().Truncate(time.Second)
	}
	turns, err := s.converse(ctx, c, tape, at)
	if err != nil {
		return err
	}
	if failed := turns[len(turns)-1].result.Error; failed != nil {
		r.fail(turns[len(turns)-1].turn.Line, "", "", "nothing was recorded, as the run failed: %s", failed.Message)
		return nil
	}
	cassette := tape.Cassette()
	for _, m := range cassette.Models {
		if strings.HasPrefix(m.Asked, "offline:") || strings.HasPrefix(m.Name, "offline:") {
			r.fail(0, "", "set the key of a provider, such as OPENAI_API_KEY, or P8_DEFAULT_MODEL", "nothing was recorded: the offline model answered, which is no language model")
			return nil
		}
	}
	cassette.Case, cassette.At = c.Name, at
	return s.store(c, cassette, r)
}

// store writes a recording.
func (s *Suite) store(c *Case, cassette *replay.Cassette, r *Result) error {
	text, err := cassette.Marshal()
	if err != nil {
		return err
	}
	return s.write(c.Cassette(), text, r)
}

// write writes a file if it changes.
func (s *Suite) write(path string, text []byte, r *Result) error {
	if before, err := s.o.Files.Read(path); err == nil && bytes.Equal(before, text) {
		return nil
	}
	if err := s.o.Files.Write(path, text); err != nil {
		return fmt.Errorf("%s cannot be written: make it a file that you may write", path)
	}
	r.Notes = append(r.Notes, "wrote "+path)
	return nil
}

// play runs a case on its recording.
func (s *Suite) play(ctx context.Context, c *Case, tape *replay.Tape) ([]seen, error) {
	at := c.Now
	if at.IsZero() {
		at = tape.Cassette().At
	}
	return s.converse(ctx, c, tape, at)
}

// converse runs a case in a world of its own.
func (s *Suite) converse(ctx context.Context, c *Case, tape *replay.Tape, at time.Time) ([]seen, error) {
	id, err := identity.FromHeaders(c.Headers, identity.Identity{ClientID: "test"})
	if err != nil {
		return nil, err
	}
	id.SessionID = cmp.Or(id.SessionID, "test-"+c.Slug)
	ctx = identity.With(ctx, id)
	w, end, err := s.o.Open(ctx, c, tape, at)
	if err != nil {
		return nil, err
	}
	defer end()
	turns, err := c.talk(ctx, w, tape)
	if err == nil && len(turns) == 0 {
		err = errors.New("the case has no turns")
	}
	return turns, err
}

// golden compares the events with the golden file, or writes it.
func (s *Suite) golden(c *Case, turns []seen, r *Result) {
	got := transcript(turns, s.clean(c))
	want, err := s.o.Files.Read(c.golden())
	switch {
	case s.o.Update || s.o.Record:
		if err := s.write(c.golden(), []byte(got), r); err != nil {
			r.fail(0, "", "", "%v", err)
		}
	case errors.Is(err, fs.ErrNotExist):
		r.fail(0, "", "p8 test --update "+c.File+" writes it", "there is no file of golden events, %s", c.golden())
	case err != nil:
		r.fail(0, "", "", "%v", unreadable(c.golden(), err))
	case got != string(want):
		r.fail(0, diff.Lines(strings.ReplaceAll(string(want), "\r\n", "\n"), got, 2), "p8 test --update "+c.File+" accepts them", "the events are not those of %s", c.golden())
	}
}
