package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/report"
)

var rewrite = flag.Bool("rewrite", false, "tell the stories anew, and write what is expected of them")

// stories are the journals in testdata.
var stories = map[string]struct {
	make    func() story
	prompts []string
}{
	"long":    {longStory, []string{"Three rooms, please: Lisbon, Porto, Faro.", "And what did it cost?"}},
	"hostile": {hostileStory, []string{"Book."}},
}

// read returns the journal of a story.
func read(t *testing.T, name string) []byte {
	t.Helper()
	path := filepath.Join("testdata", name+".jsonl")
	if *rewrite {
		s := stories[name]
		require.NoError(t, os.WriteFile(path, s.make().tell(t, s.prompts...), 0o644))
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}

// golden compares with the golden file, or rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, got), "%s is another; -rewrite writes it anew, then read the diff", path)
}

// forms are the three ways to show a journal.
var forms = map[string]func(io.Writer, io.Reader) error{
	"text": func(w io.Writer, in io.Reader) error { return report.Text(w, in, report.Style{}) },
	"html": report.Page{}.HTML,
	"json": report.JSON,
}

func show(t *testing.T, form string, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, forms[form](&out, bytes.NewReader(text)))
	return out.String()
}

func TestGolden(t *testing.T) {
	for name := range stories {
		t.Run(name, func(t *testing.T) {
			text := read(t, name)
			for form := range forms {
				golden(t, name+"."+form, []byte(show(t, form, text)))
			}
		})
	}
}

// A journal that a story writes today can be shown, too.
func TestTheStoriesCanBeTold(t *testing.T) {
	for name, s := range stories {
		t.Run(name, func(t *testing.T) {
			assert.Contains(t, show(t, "text", s.make().tell(t, s.prompts...)), "  done  ")
		})
	}
}

func TestLinesKeepToTheirWidth(t *testing.T) {
	for name := range stories {
		text := read(t, name)
		for _, width := range []int{1, 40, 57, 80, 100, 200} {
			var out bytes.Buffer
			require.NoError(t, report.Text(&out, bytes.NewReader(text), report.Style{Width: width}))
			for line := range strings.Lines(out.String()) {
				assert.LessOrEqual(t, report.Width(strings.TrimSuffix(line, "\n")), max(width, report.MinWidth), line)
			}
		}
	}
}

func TestColoursAreOurs(t *testing.T) {
	text := read(t, "hostile")
	assert.NotContains(t, show(t, "text", text), "\x1b")
	var out bytes.Buffer
	require.NoError(t, report.Text(&out, bytes.NewReader(text), report.Style{Color: true}))
	plain := out.String()
	for _, code := range []string{"0", "1", "2", "31", "32", "33", "35", "36"} {
		plain = strings.ReplaceAll(plain, "\x1b["+code+"m", "")
	}
	assert.Equal(t, show(t, "text", text), plain, "without its colours it is the same")
}

func TestAPageIsSafe(t *testing.T) {
	page := show(t, "html", read(t, "hostile"))
	for _, never := range []string{"<img", "</title><b>", "\x1b", "\x07", "\u202e", "\u200b", "javascript:", " onerror=", " style=", "src=\"", "ZgotmplZ"} {
		assert.False(t, strings.Contains(strings.ReplaceAll(page, "&lt;img src=x onerror=alert(1)&gt;", ""), never), never)
	}
	for _, always := range []string{
		"&lt;/script&gt;&lt;script&gt;alert(1)", `<span class="hidden" title="a character that cannot be seen">U&#43;202E</span>`,
		"default-src &#39;none&#39;; style-src &#39;sha256-", "=&#39;; script-src &#39;sha256-",
	} {
		assert.True(t, strings.Contains(page, always), always)
	}
	assert.Equal(t, 1, strings.Count(page, "<style"))
	assert.Equal(t, 1, strings.Count(page, "<script"))
	for _, link := range strings.Split(page, ` href="`)[1:] {
		id := link[:strings.IndexByte(link, '"')]
		require.True(t, strings.HasPrefix(id, "#"), id)
		assert.Equal(t, 1, strings.Count(page, ` id="`+id[1:]+`"`), id)
	}
	for _, id := range strings.Split(page, ` id="`)[1:] {
		id = id[:strings.IndexByte(id, '"')]
		assert.Equal(t, 1, strings.Count(page, ` id="`+id+`"`), id)
	}
}

func TestJSONLines(t *testing.T) {
	attempts := 0
	for line := range strings.Lines(show(t, "json", read(t, "long"))) {
		var e struct {
			Kind    string
			Session string
			Text    string
			Failed  int
			Line    int64
			Left    map[string]any
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		if e.Kind == "attempt" && e.Left["run"] != nil {
			attempts++
		}
		if e.Session != "" {
			assert.Equal(t, attempts, e.Failed)
			attempts = 0
		}
	}
}

// A journal can be shown wherever it ends. The report says what is unfinished.
func TestAJournalThatEndsAnywhere(t *testing.T) {
	text := read(t, "long")
	for cut := 0; cut < len(text); cut += 131 {
		got := show(t, "text", text[:cut])
		if line := bytes.LastIndexByte(text[:cut], '\n') + 1; line < cut {
			assert.Contains(t, got, "torn", "byte %d", cut)
		}
		if !strings.Contains(got, "  done  ") {
			assert.Regexp(t, "unfinished|no run", got, "byte %d", cut)
		}
		if cut%3 == 0 {
			assert.Contains(t, show(t, "html", text[:cut]), "</html>")
		}
	}
}

func TestADamagedJournalIsShownUpToTheDamage(t *testing.T) {
	text := read(t, "long")
	lines := bytes.SplitAfter(text, []byte("\n"))
	damaged := bytes.Join(lines[:20], nil)
	at := len(damaged)
	damaged = append(damaged, bytes.Replace(bytes.Join(lines[20:], nil), []byte("Lisbon"), []byte("Lisboa"), 1)...)
	for form, write := range forms {
		t.Run(form, func(t *testing.T) {
			var out bytes.Buffer
			err := write(&out, bytes.NewReader(damaged))
			require.ErrorIs(t, err, journal.ErrCorrupt)
			var corrupt *journal.CorruptError
			require.ErrorAs(t, err, &corrupt)
			assert.GreaterOrEqual(t, corrupt.Offset, int64(at))
			assert.Contains(t, out.String(), "unfinished")
			if form == "html" {
				assert.Contains(t, out.String(), "The journal is damaged.")
			}
		})
	}
}

func TestWhatIsNoJournal(t *testing.T) {
	for name, text := range map[string]string{
		"prose":      "hello\n",
		"no_header":  chained(`{"event":{"at":"2030-01-01T00:00:00Z","kind":"cancelled"}}`),
		"no_payload": chained(`{"header":{"config":{},"format":"retake.journal/1","session":"s"}}`, `{"event":{"at":"2030-01-01T00:00:00Z","kind":"replied"}}`),
		"no_effect":  chained(`{"header":{"config":{},"format":"retake.journal/1","session":"s"}}`, `{"decision":{"effects":[{"kind":"wait"},{"kind":"stop"}]}}`),
	} {
		t.Run(name, func(t *testing.T) {
			for _, write := range forms {
				require.ErrorIs(t, write(io.Discard, strings.NewReader(text)), journal.ErrCorrupt)
			}
		})
	}
	assert.Contains(t, show(t, "text", nil), "the journal is empty")
	assert.Contains(t, show(t, "text", []byte("{")), "torn and was not read: 1 byte without a line feed")
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }
func (broken) Read([]byte) (int, error)  { return 0, errBroken }

var errBroken = errors.New("broken")

func TestErrorsOfReadersAndWritersAreGiven(t *testing.T) {
	text := read(t, "long")
	for form, write := range forms {
		require.ErrorIs(t, write(broken{}, bytes.NewReader(text)), errBroken, form)
		require.ErrorIs(t, write(io.Discard, broken{}), errBroken, form)
	}
}

func TestEveryReleasedFormatCanBeShown(t *testing.T) {
	files, err := filepath.Glob("../testdata/journals/*/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for form, write := range forms {
			var out bytes.Buffer
			if err := write(&out, bytes.NewReader(text)); err != nil {
				want := journal.ErrCorrupt
				if filepath.Base(file) == "bad-unknown-format.jsonl" {
					want = journal.ErrDiffers
				}
				require.ErrorIs(t, err, want, "%s as %s", file, form)
				require.Contains(t, filepath.Base(file), "bad-")
				continue
			}
			assert.NotEmpty(t, out.String(), file)
		}
	}
}
