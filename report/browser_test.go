package report_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/browser"
)

// browse runs the browser on an address and returns its output.
func browse(t *testing.T, path, scheme string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	preferred := map[string]string{"dark": "0", "light": "1"}[scheme]
	args = append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + t.TempDir(),
		"--blink-settings=preferredColorScheme=" + preferred,
	}, args...)
	out, err := exec.CommandContext(ctx, path, args...).Output()
	require.NoError(t, err)
	return out
}

// The page is shown on a phone and on a desktop, in light and dark colours.
func TestAPageInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	path := browser.Path(t)
	pages := http.NewServeMux()
	server := httptest.NewServer(pages)
	defer server.Close()
	journals := map[string][]byte{"deep": failing(t), "kill1": killed(t)}
	for name := range stories {
		journals[name] = read(t, name)
	}
	for name, text := range journals {
		page := []byte(show(t, "html", text))
		pages.HandleFunc("/"+name+"/", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/measure.html") })
		pages.HandleFunc("/"+name+"/page", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) })
		for _, width := range []int{420, 1400} {
			for _, scheme := range []string{"light", "dark"} {
				if name != "long" && (width == 1400 || scheme == "light") {
					continue // a narrow one says enough of what is too wide
				}
				t.Run(fmt.Sprint(name, width, scheme), func(t *testing.T) {
					looks(t, path, server.URL+"/"+name+"/page", scheme, width)
					behaves(t, path, fmt.Sprint(server.URL, "/", name, "/?", width), scheme)
				})
			}
		}
	}
}

// looks takes a screenshot, and checks its size and background colour. RETAKE_SCREENSHOTS names a folder to
// keep it in.
func looks(t *testing.T, path, url, scheme string, width int) {
	t.Helper()
	file := filepath.Join(cmp.Or(os.Getenv("RETAKE_SCREENSHOTS"), t.TempDir()), filepath.Base(t.Name())+".png")
	browse(t, path, scheme, fmt.Sprintf("--window-size=%d,1800", width), "--screenshot="+file, url)
	shot, err := os.ReadFile(file)
	require.NoError(t, err)
	picture, err := png.Decode(bytes.NewReader(shot))
	require.NoError(t, err)
	assert.Equal(t, width, picture.Bounds().Dx())
	assert.Equal(t, 1800, picture.Bounds().Dy())
	r, g, b, _ := picture.At(2, 2).RGBA()
	assert.Equal(t, scheme == "light", (r+g+b)/3 > 0x8000, "the background is that of the scheme")
}

// behaves measures the page in a frame. See testdata/measure.html.
func behaves(t *testing.T, path, url, scheme string) {
	t.Helper()
	dom := browse(t, path, scheme, "--virtual-time-budget=20000", "--dump-dom", url)
	text := regexp.MustCompile(`(?s)<pre>(.*)</pre>`).FindSubmatch(dom)
	require.NotNil(t, text, "%s", dom)
	var found struct {
		Wide                                                      []int
		Faint                                                     []string
		Folded, Failed, OpenFailed, First, Second, Back, Filtered int
		Hidden, Scrolled, Policies                                int
	}
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(string(text[1]))), &found))
	assert.Empty(t, found.Wide, "the page is wider than its window")
	assert.Empty(t, found.Faint, "text with a contrast of less than 4.5")
	assert.Positive(t, found.Folded, "what passed is folded")
	assert.Positive(t, found.Failed)
	assert.Equal(t, found.Failed, found.OpenFailed, "what failed is open")
	assert.Less(t, found.First, found.Second, "n goes to the next failure")
	assert.Equal(t, found.First, found.Back, "p goes back")
	assert.Zero(t, found.Hidden, "a text is scrolled to what is wrong with it")
	if strings.Contains(t.Name(), "deep") {
		assert.Positive(t, found.Scrolled)
	}
	assert.Equal(t, 1, found.Policies, "a link to a policy opens it")
	assert.Equal(t, found.Failed, found.Filtered, "f shows only what failed")
}
