// Package browser drives a headless Chromium in tests, over a pipe.
package browser

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Path finds a headless Chromium: RETAKE_BROWSER, or else the first that is installed. Without one the test
// is skipped.
func Path(t testing.TB) string {
	t.Helper()
	for _, name := range []string{os.Getenv("RETAKE_BROWSER"), "chromium-headless-shell", "chromium",
		"google-chrome", "chrome"} {
		if path, err := exec.LookPath(cmp.Or(name, "no browser")); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium: install one (Debian: chromium-headless-shell), or name one in RETAKE_BROWSER")
	return ""
}

// Tab is a page in a browser. What goes wrong fails the test. It is for one goroutine.
type Tab struct {
	t       testing.TB
	out     *bufio.Reader
	in      *os.File
	session string
	last    int
}

// Host leads to this machine, and is a name that browsers trust no more than any other without TLS.
const Host = "console.test"

// Open starts a browser, which ends with the test, and opens an empty page.
func Open(t testing.TB) *Tab {
	t.Helper()
	theirIn, in, err := os.Pipe()
	must(t, err)
	out, theirOut, err := os.Pipe()
	must(t, err)
	profile, err := os.MkdirTemp("", "browser") // its processes may outlive it
	must(t, err)
	cmd := exec.Command(Path(t), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--remote-debugging-pipe", "--host-resolver-rules=MAP "+Host+" 127.0.0.1",
		"--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	must(t, cmd.Start())
	_, _ = theirIn.Close(), theirOut.Close()
	late := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	tab := &Tab{t: t, out: bufio.NewReader(out), in: in}
	t.Cleanup(func() {
		tab.session = ""
		_ = tab.try("Browser.close", nil, nil)
		_, _ = in.Close(), out.Close()
		_ = cmd.Wait()
		late.Stop()
		_ = os.RemoveAll(profile)
	})
	var target struct{ TargetID string }
	tab.do("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	tab.do("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	tab.session = attached.SessionID
	tab.do("Page.enable", nil, nil)
	return tab
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// do calls a method of the browser.
func (b *Tab) do(method string, params, result any) {
	b.t.Helper()
	must(b.t, b.try(method, params, result))
}

// try is do, with what the browser says against it.
func (b *Tab) try(method string, params, result any) error {
	b.t.Helper()
	b.last++
	call := map[string]any{"id": b.last, "method": method}
	if params != nil {
		call["params"] = params
	}
	if b.session != "" {
		call["sessionId"] = b.session
	}
	text, err := json.Marshal(call)
	must(b.t, err)
	if _, err = b.in.Write(append(text, 0)); err != nil {
		return err
	}
	for {
		text, err := b.out.ReadBytes(0)
		if err != nil {
			return err
		}
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		must(b.t, json.Unmarshal(text[:len(text)-1], &answer))
		switch {
		case answer.ID != b.last: // an event
		case answer.Error != nil:
			return fmt.Errorf("%s: %s", method, answer.Error.Message)
		case result == nil:
			return nil
		default:
			return json.Unmarshal(answer.Result, result)
		}
	}
}

// Look sets the width and height of the page, and whether it is dark.
func (b *Tab) Look(width, height int, dark bool) {
	b.t.Helper()
	b.Size(width, height)
	b.Prefer(map[string]string{"prefers-color-scheme": map[bool]string{true: "dark", false: "light"}[dark]})
}

// Size sets the width and height of the page.
func (b *Tab) Size(width, height int) {
	b.t.Helper()
	b.do("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Prefer sets media features, such as forced-colors, by their names; others are as the browser has them.
func (b *Tab) Prefer(features map[string]string) {
	b.t.Helper()
	var all []any
	for name, value := range features {
		all = append(all, map[string]any{"name": name, "value": value})
	}
	b.do("Emulation.setEmulatedMedia", map[string]any{"features": all}, nil)
}

// Print shows the page as it is printed.
func (b *Tab) Print() {
	b.t.Helper()
	b.do("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
}

// Go opens an address, and waits until an expression of the page is true.
func (b *Tab) Go(address, until string) {
	b.t.Helper()
	b.do("Page.navigate", map[string]any{"url": address}, nil)
	b.Until(until)
}

// Until waits until an expression is true, in the page that is there then, for at most 20 seconds.
func (b *Tab) Until(expression string) {
	b.t.Helper()
	for range 400 {
		wait := fmt.Sprintf("new Promise(done => { const now = () => { try { return !!(%s) } catch { return "+
			"false } };"+
			" if (document.readyState === 'complete' && now()) done(true); else setTimeout(() => done(false), 50) })", expression)
		var is struct {
			Result struct{ Value bool }
		}
		err := b.try("Runtime.evaluate", map[string]any{"expression": wait, "awaitPromise": true,
			"returnByValue": true}, &is)
		if err == nil && is.Result.Value { // the page may have gone meanwhile
			return
		}
	}
	b.t.Fatalf("never true: %s\n%s", expression, b.Text("document.body.innerText"))
}

// Text returns the value of an expression as text.
func (b *Tab) Text(expression string) string {
	b.t.Helper()
	var is struct {
		Result           struct{ Value string }
		ExceptionDetails *struct{ Text string }
	}
	b.do("Runtime.evaluate", map[string]any{"expression": "String(" + expression + ")", "returnByValue": true},
		&is)
	if is.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, is.ExceptionDetails.Text)
	}
	return is.Result.Value
}

// Click clicks on what a selector finds first, once it can be clicked on.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.Until(fmt.Sprintf("!document.querySelector(%q).disabled", selector))
	b.Text(fmt.Sprintf("document.querySelector(%q).click()", selector))
}

// Enter sets the value of a field.
func (b *Tab) Enter(selector, value string) {
	b.t.Helper()
	b.Text(fmt.Sprintf("(f => { f.value = %q; f.dispatchEvent(new Event('input', {bubbles: true})) "+
		"})(document.querySelector(%q))", value, selector))
}

// Shot returns a picture of what is seen, as PNG.
func (b *Tab) Shot() []byte {
	b.t.Helper()
	var shot struct{ Data string }
	b.do("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	must(b.t, err)
	return png
}
