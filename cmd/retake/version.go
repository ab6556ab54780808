package main

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

var versionCommand = command{
	name:    "version",
	summary: "shows the version of this program",
	example: "retake version",
	usage:   []string{"version [-json]"},
	about: `
Shows the version of this program, the commit it was built from and the version of Go. A build from a working
copy has the version (devel), or one made of the commit.

JSON: {"version", "go", "platform", "revision", "modified"}. The last two are absent if they are not known.`,
	task: newTask[version],
}

// version is the command and its answer as JSON.
type version struct {
	jsonAnswer
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
}

func (v *version) run(e *env) error {
	v.Version, v.Go, v.Platform = "(unknown)", runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Version = cmp.Or(info.Main.Version, "(devel)")
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Revision = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	if v.JSON {
		return e.json(v)
	}
	e.printf("retake %s (%s, %s)\n", v.Version, v.Go, v.Platform)
	if v.Revision != "" {
		note := ""
		if v.Modified {
			note = ", with changes that are not committed"
		}
		e.printf("built from %s%s\n", v.Revision, note)
	}
	return nil
}
