package kit

import (
	"net/url"
	"strings"
)

// ProviderAt returns the name of a model's provider for the scopes of a limiter (machine.ModelInfo): name at
// the provider's own host, or if address is empty; host and port of the address elsewhere, because another
// server has limits of its own.
func ProviderAt(name, address, own string) string {
	at, err := url.Parse(address)
	home, bad := url.Parse(own)
	if err != nil || bad != nil || at.Host == "" || at.Hostname() == home.Hostname() &&
		portOf(at) == portOf(home) {
		return name
	}
	return strings.ToLower(at.Host)
}

func portOf(u *url.URL) int {
	_, port := addressOf(u)
	return port
}
