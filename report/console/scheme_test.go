package console_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The colours that were chosen are those of all pages; no other value gets into one.
func TestColoursAreChosen(t *testing.T) {
	c := open(t, folder(t))
	for _, scheme := range []string{"light", "dark", "", "} body { display: none"} {
		r := say(t, c, "/scheme", url.Values{"to": {scheme}})
		assert.Equal(t, http.StatusSeeOther, r.StatusCode)
		assert.Equal(t, "./", r.Header.Get("Location"))
		chosen := func(r2 *http.Request) {
			for _, cookie := range r.Cookies() {
				r2.AddCookie(cookie)
			}
		}
		css := body(t, ask(t, c, "GET", "/console.css", chosen))
		page := body(t, ask(t, c, "GET", "/session?id=order-42", chosen))
		if scheme == "light" || scheme == "dark" {
			assert.Contains(t, css, "html { color-scheme: "+scheme+"; }")
			assert.Contains(t, page, `<meta name="color-scheme" content="`+scheme+`">`)
			continue
		}
		assert.NotContains(t, css, "html { color-scheme: "+scheme+";")
		assert.Contains(t, page, `<meta name="color-scheme" content="light dark">`)
	}
}
