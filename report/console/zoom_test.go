package console_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small are the links and buttons of a page that are seen and lower or narrower than 24 pixels, but for links
// within a text.
const small = `[...document.querySelectorAll("a, button, summary, select, input:not([type=hidden])")]
	.filter(e => e.checkVisibility() && !e.closest(".sr, .skip, svg") && getComputedStyle(e).display !== "inline")
	.filter(e => e.type !== "checkbox" || !e.closest("label"))
	.filter(e => (r => r.width > 0 && (r.height < 23.5 || r.width < 23.5))(e.getBoundingClientRect()))
	.map(e => e.outerHTML.slice(0, 80)).join("\n")`

// bare are states, notes and buttons that only a colour would tell from what is around them: without a
// border, in a mode that takes the colours away.
const bare = `[...document.querySelectorAll("#list td b, .chip, .outcome, .note, .came, .warned, button, input:not([type=hidden]), select, textarea")]
	.filter(e => e.checkVisibility() && !e.closest(".sr") && e.type !== "checkbox")
	.filter(e => (s => !(s.borderTopStyle !== "none" && parseFloat(s.borderTopWidth) > 0))(getComputedStyle(e)))
	.map(e => e.outerHTML.slice(0, 80)).join("\n")`

// Each page can be used at 400 % on a screen of 1280 pixels, without colours, and without motion.
func TestPagesAtFourHundredPercentWithoutColoursInABrowser(t *testing.T) {
	dir, _ := fleet(t)
	looked(t, dir, "rooms", 20)
	put(t, string(dir), "order-66.jsonl", asked(t, "order-66", `{"to":"`+attack+`","cents":1,"currency":"EUR"}`, 20*time.Minute, pay(always)))
	tab, at := browse(t, dir, soonAfter)
	tab.Go(at+"/?token="+token, `document.querySelector("#list")`)
	for n, path := range []string{"/", "/inbox", "/session?id=trip-3", "/session?id=rooms", "/session?id=order-42", "/session?id=missing", "/?q=nothing+has+this"} {
		for _, mode := range []map[string]string{
			{"prefers-reduced-motion": "reduce"}, {"forced-colors": "active", "prefers-color-scheme": "light"}, {"forced-colors": "active", "prefers-color-scheme": "dark"},
		} {
			tab.Size(320, 256)
			tab.Prefer(mode)
			tab.Go(at+path, `document.querySelector("main")`)
			assert.Equal(t, "320", tab.Text("document.documentElement.scrollWidth"), "%s is wider than a screen at 400 %%", path)
			assert.Empty(t, tab.Text(small), path)
			assert.Equal(t, "true", tab.Text(`[...document.querySelectorAll(".buttons")].every(b => getComputedStyle(b).position === "static")`),
				"buttons leave room for the form")
			if mode["forced-colors"] != "" {
				assert.Empty(t, tab.Text(bare), path)
			} else {
				tab.Text(`document.querySelectorAll("#list tr[id]").forEach(r => r.classList.add("new"))`)
				assert.Equal(t, "0", tab.Text("document.getAnimations().length"), path)
			}
			if folder := os.Getenv("RETAKE_SCREENSHOTS"); folder != "" {
				require.NoError(t, os.WriteFile(fmt.Sprintf("%s/zoom-%d-%s.png", folder, n, mode["prefers-color-scheme"]), tab.Shot(), 0o600))
			}
		}
	}
}
