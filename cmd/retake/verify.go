package main

import (
	"errors"
	"io"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
)

var verifyCommand = command{
	name:    "verify",
	summary: "checks that journals are whole: every line and its hash",
	example: "retake verify runs/",
	usage:   []string{"verify [-since TIME] [-until TIME] [-json] JOURNAL..."},
	about: `
Reads each line of a journal and checks its form and its hash, which covers all lines before it. So a line
that was changed, left out or moved is found. Nothing is decided anew: that is "retake replay".
` + journalArgs + `. ` + duringAbout + `

A last line that was cut off is no damage, for a killed process leaves one. Complete lines that are missing
at the end are found only by the hash of the last one, if it was kept elsewhere.

A sealed journal is checked with its key (-seal-key): every line has to open with it, in its place and its
session. Without the key it is not damaged, but cannot be read: the exit status is 2. One that is not sealed
is checked without: the answer says which are sealed.

JSON, one line for each journal: {"journal", "ok", "records", "torn_bytes", "hash", "sealed", "error"}. The
hash is that of the last line but notes, which covers what is before it.`,
	task: newTask[verify],
}

type verify struct {
	jsonAnswer
	dated
}

// verified is what came of one journal.
type verified struct {
	Journal string `json:"journal"`
	OK      bool   `json:"ok"`
	Records int64  `json:"records"`
	Torn    int64  `json:"torn_bytes,omitempty"`
	Hash    string `json:"hash,omitempty"`
	Sealed  bool   `json:"sealed,omitempty"`
	Error   string `json:"error,omitempty"`

	place place
	// mark says what is wrong: it is damaged, or cannot be read.
	mark string
}

func (v *verify) run(e *env) error {
	damaged, bad := 0, []place(nil)
	check := func(in io.Reader, _ []byte) (verified, error) {
		r := journal.NewReader(in)
		_, sealed := in.(unsealed)
		for n := int64(0); ; n++ {
			if _, err := r.Next(); errors.Is(err, io.EOF) {
				return verified{OK: true, Records: n, Torn: r.TornBytes(), Hash: r.Hash(), Sealed: sealed}, nil
			} else if err != nil {
				return verified{Records: n}, err
			}
		}
	}
	err := each(e, v.places, "", check, func(p place, one verified, err error) error {
		one.Journal, one.place = p.String(), p
		if err != nil {
			one.Error, one.mark = err.Error(), "bad    "
		}
		switch {
		case errors.Is(err, journal.ErrCorrupt):
			damaged, one.mark = damaged+1, "damaged"
		case err != nil:
			bad = append(bad, p)
		}
		if v.JSON {
			return e.json(one)
		}
		one.write(e)
		return nil
	})
	if err = errors.Join(err, unreadable(bad, len(v.places))); err == nil && damaged > 0 {
		return errNotOK
	}
	return err
}

// write writes it for people.
func (v verified) write(e *env) {
	if !v.OK {
		e.printf("%s  %s\n%s\n", e.red(v.mark), title(v.place), plainLines(indent(v.Error)))
		return
	}
	text := several.Of(v.Records, "record")
	if v.Sealed {
		text += ", sealed"
	}
	if v.Torn > 0 {
		text += ", and a last line that was cut off (" + several.Of(v.Torn, "byte") + ")"
	}
	e.printf("%s    %s  %s\n", e.green("whole"), title(v.place), e.faint(text))
}
