package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/retake-go/retake/internal/canon"
)

// diffLine is one line of a comparison. Op is "+", "-", " ", or "…" for equal lines that are left out.
type diffLine struct{ Op, Text string }

// maxDiff is the most changed lines that a comparison shows.
const maxDiff = 800

// diffLines compares two texts line by line. It returns no lines for equal texts, and false if more than
// maxDiff lines have changed.
func diffLines(was, is string) (lines []diffLine, ok bool) {
	changed := 0
	// The first lines are the header of the diff.
	_, hunks, _ := strings.Cut(string(diff.Diff("", []byte(was+"\n"), "", []byte(is+"\n"))), "\n+++ ")
	for line := range strings.Lines(hunks) {
		op, text := line[:1], strings.TrimSuffix(line[1:], "\n")
		switch {
		case op == "@" && len(lines) > 0:
			op, text = "…", ""
		case op == "+", op == "-":
			changed++
		case op != " ":
			continue
		}
		lines = append(lines, diffLine{op, text})
	}
	if changed > maxDiff {
		return nil, false
	}
	return lines, true
}

// pretty formats strict JSON in canonical order, one member a line. It returns false for any other text.
func pretty(text string) (string, bool) {
	raw, err := canon.JSON([]byte(text))
	if err != nil {
		return "", false
	}
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return "", false
	}
	return out.String(), true
}

// prettyPair formats two texts for a comparison: with pretty if both are strict JSON, else with loose.
func prettyPair(a, b string) (string, string) {
	prettyA, okA := pretty(a)
	prettyB, okB := pretty(b)
	if okA && okB {
		return prettyA, prettyB
	}
	return loose(a), loose(b)
}

// loose breaks invalid JSON into lines, and leaves any other text as it is.
func loose(text string) string {
	if s := strings.TrimSpace(text); s == "" || !isBracket(s[0]) {
		return text
	}
	lines := strings.NewReplacer(", ", ",\n", ",", ",\n", "{", "{\n", "[", "[\n", "}", "\n}", "]", "\n]")
	return lines.Replace(text)
}

// diffOf compares two proposals.
func diffOf(was, is proposal) diffView {
	before, okBefore := fieldsOf(was.text)
	after, okAfter := fieldsOf(is.text)
	if okBefore && okAfter {
		fields := fieldViews(before, was.issues, after, is.issues)
		return diffView{Fields: fields, Same: len(fields) == 0}
	}
	lines, ok := diffLines(prettyPair(was.text, is.text))
	for n := range lines {
		lines[n].Text = clip(visible(lines[n].Text), maxCell)
	}
	return diffView{Lines: lines, Same: ok && len(lines) == 0, Long: !ok}
}

// maxCell is the most characters of a value that is compared.
const maxCell = 300

// fieldViews lists the fields that differ, or that an issue is about: those of the later proposal in its
// order, then those that are gone, then those that are missing in both.
func fieldViews(was []field, wrongBefore []issueView, is []field, wrongNow []issueView) (all []fieldView) {
	seen := map[string]bool{}
	add := func(path string) {
		if seen[path] || path == "" || len(all) >= maxFields {
			return
		}
		seen[path] = true
		v := fieldView{
			Path: visible(path), Was: valueAt(was, path), Is: valueAt(is, path),
			WasMark: markAt(wrongBefore, path), IsMark: markAt(wrongNow, path),
		}
		if v.WasMark == "bad" && v.IsMark == "" {
			v.IsMark = "good"
		}
		if v.Was != v.Is || v.IsMark != "" {
			all = append(all, v)
		}
	}
	for _, fields := range [][]field{is, was} {
		for _, f := range fields {
			add(f.path)
		}
	}
	for _, issues := range [][]issueView{wrongNow, wrongBefore} {
		for _, i := range issues {
			if i.rule == "required" {
				add(i.Place)
			}
		}
	}
	return all
}

// valueAt is the value of a field; empty if there is none.
func valueAt(all []field, path string) string {
	at := slices.IndexFunc(all, func(f field) bool { return f.path == path })
	if at < 0 {
		return ""
	}
	return clip(visible(all[at].text), maxCell)
}

// markAt is "bad" if an issue is about a field or a part of it.
func markAt(issues []issueView, path string) string {
	return when(slices.ContainsFunc(issues, func(i issueView) bool {
		return i.Place == path || strings.HasPrefix(i.Place, path+"/")
	}), "bad")
}

// bytes is the approximate size of a comparison.
func (v *diffView) bytes() (n int64) {
	for _, l := range v.Lines {
		n += int64(len(l.Text))
	}
	for _, f := range v.Fields {
		n += int64(len(f.Path) + len(f.Was) + len(f.Is))
	}
	return n
}
