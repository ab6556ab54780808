package kit

import (
	"errors"
	"net/url"
	"reflect"
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

// AddressOption returns an option for a request of an SDK's client, and where the option puts the address of
// the client. It stops the request before it is sent. like is any option of that SDK, as in [GuardOption].
// The address stays empty if the SDK has no fields BaseURL and DefaultBaseURL.
func AddressOption[C any](
	like interface{ Apply(*C) error },
) (option interface{ Apply(*C) error }, address *string) {
	address = new(string)
	return addressReader[C]{address}, address
}

type addressReader[C any] struct{ address *string }

// Apply reads the address.
func (r addressReader[C]) Apply(cfg *C) error {
	for _, field := range [...]string{"BaseURL", "DefaultBaseURL"} {
		at := reflect.ValueOf(cfg).Elem().FieldByName(field)
		if !at.IsValid() {
			continue
		}
		if u, ok := at.Interface().(*url.URL); ok && u != nil && *r.address == "" {
			*r.address = u.String()
		}
	}
	return errors.New("only the address was asked for")
}
