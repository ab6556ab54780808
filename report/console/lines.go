package console

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/retake-go/retake/internal/several"
)

// The most lines of a journal that are shown at once, and the most bytes of each.
const (
	maxLines     = 200
	maxLineShown = 64 << 10
)

// lines writes lines of a session's journal as they stand in the store, each after its number. Values that
// schemas mark as secret are in them.
func (c *Console) lines(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	from, err := strconv.ParseInt(q.Get("from"), 10, 32)
	if err != nil || from < 1 {
		why := fmt.Sprintf("from: %q is no line; give a number from 1 on", brief(q.Get("from")))
		http.Error(w, why, http.StatusBadRequest)
		return
	}
	s, _ := c.watch.look(r.Context(), q.Get("store"), q.Get("id"))
	if s == nil {
		http.Error(w, "there is no session "+brief(q.Get("id")), http.StatusNotFound)
		return
	}
	in, err := c.settings.Stores[s.store].Store.Peek(r.Context(), q.Get("id"))
	if err != nil {
		http.Error(w, "the journal cannot be read: "+brief(c.scrub(err.Error())), http.StatusInternalServerError)
		return
	}
	defer in.Close()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_ = writeLines(w, in, from) // what is missing is at the end
}

// writeLines writes at most maxLines lines, the first of which has the number from.
func writeLines(w io.Writer, in io.Reader, from int64) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for n := int64(1); ; n++ {
		text, length, err := readLine(lines)
		switch {
		case length == 0 || n < from:
		case n == from+maxLines:
			_, err := fmt.Fprintf(w, "\nmore: from=%d\n", n)
			return err
		case length > len(text):
			fmt.Fprintf(w, "%6d  %s … %s in all\n", n, visible(text), several.Of(length, "byte"))
		default:
			fmt.Fprintf(w, "%6d  %s\n", n, visible(text))
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// readLine returns the beginning of the next line, and the length of the whole.
func readLine(in *bufio.Reader) (text string, length int, err error) {
	var line strings.Builder
	for {
		piece, err := in.ReadSlice('\n')
		trimmed := strings.TrimSuffix(string(piece), "\n")
		length += len(trimmed)
		line.WriteString(trimmed[:min(len(trimmed), maxLineShown-line.Len())])
		if err != bufio.ErrBufferFull {
			return line.String(), length, err
		}
	}
}
