package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/report/internal/told"
)

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

// valueAt returns the value of a field; empty if there is none.
func valueAt(all []field, path string) string {
	at := slices.IndexFunc(all, func(f field) bool { return f.path == path })
	if at < 0 {
		return ""
	}
	return told.Clip(visible(all[at].text), maxCell)
}

// markAt returns "bad" if an issue is about a field or a part of it.
func markAt(issues []issueView, path string) string {
	return when(slices.ContainsFunc(issues, func(i issueView) bool {
		return i.Place == path || strings.HasPrefix(i.Place, path+"/")
	}), "bad")
}
