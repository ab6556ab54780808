package work

import (
	"strconv"
	"strings"
)

// OrderByHand decodes and checks an order in one pass, with code for this type only: every rule, unknown
// and duplicate keys, all faults with their places. Its rule for email addresses is simpler than the
// validator's.
func OrderByHand(doc string) (Order, []Fault) {
	p := scan{s: doc}
	var o Order
	p.order(&o)
	p.end()
	return o, p.faults
}

func (p *scan) order(o *Order) {
	if !p.open('{', "", "expected an object") {
		return
	}
	seen := 0
	for key, ok := p.key(true); ok; key, ok = p.key(false) {
		switch key {
		case "id":
			p.once(&seen, 1, "/id")
			o.ID = p.text("/id", 1, 40)
		case "kind":
			p.once(&seen, 2, "/kind")
			o.Kind = p.oneOf("/kind", "order", "quote", "refund")
		case "contact":
			p.once(&seen, 4, "/contact")
			o.Contact = p.email("/contact")
		case "priority":
			p.once(&seen, 8, "/priority")
			o.Priority = p.integer("/priority", 1, 5)
		case "total":
			p.once(&seen, 16, "/total")
			o.Total = p.amount("/total")
		case "ship":
			p.once(&seen, 32, "/ship")
			p.address(&o.Ship)
		case "items":
			p.once(&seen, 64, "/items")
			o.Items = p.items()
		case "labels":
			p.once(&seen, 128, "/labels")
			o.Labels = p.labels()
		default:
			p.unknown("", key)
		}
	}
	p.needs(seen, "", "id", "kind", "contact", "priority", "total", "ship", "items", "labels")
}

func (p *scan) oneOf(where string, words ...string) string {
	s := p.text(where, 0, 100)
	for _, w := range words {
		if s == w {
			return s
		}
	}
	p.fault(where, "expected one of "+strings.Join(words, ", "))
	return s
}

func (p *scan) email(where string) string {
	s := p.text(where, 3, 254)
	name, host, ok := strings.Cut(s, "@")
	if !ok || name == "" || strings.ContainsAny(s, " \t\"<>") || strings.Contains(host, "@") || strings.IndexByte(host, '.') < 1 {
		p.fault(where, "expected an email address")
	}
	return s
}

func (p *scan) address(a *Address) {
	if !p.open('{', "/ship", "expected an object") {
		return
	}
	seen := 0
	for key, ok := p.key(true); ok; key, ok = p.key(false) {
		switch key {
		case "street":
			p.once(&seen, 1, "/ship/street")
			a.Street = p.text("/ship/street", 1, 1<<20)
		case "city":
			p.once(&seen, 2, "/ship/city")
			a.City = p.text("/ship/city", 1, 1<<20)
		case "code":
			p.once(&seen, 4, "/ship/code")
			a.Code = p.text("/ship/code", 5, 5)
		default:
			p.unknown("/ship", key)
		}
	}
	p.needs(seen, "/ship", "street", "city", "code")
}

func (p *scan) items() []Item {
	if !p.open('[', "/items", "expected a list") {
		return nil
	}
	items := make([]Item, 0, 8)
	for first := true; p.more(first); first = false {
		at, before := len(items), len(p.faults)
		items = append(items, Item{})
		p.item(&items[at])
		for i := before; i < len(p.faults); i++ {
			p.faults[i].Where = "/items/" + strconv.Itoa(at) + p.faults[i].Where
		}
	}
	if len(items) < 1 || len(items) > 50 {
		p.fault("/items", "expected 1 to 50 items")
	}
	return items
}

func (p *scan) item(it *Item) {
	if !p.open('{', "", "expected an object") {
		return
	}
	seen := 0
	for key, ok := p.key(true); ok; key, ok = p.key(false) {
		switch key {
		case "sku":
			p.once(&seen, 1, "/sku")
			it.SKU = p.text("/sku", 1, 1<<20)
			p.alphanumeric("/sku", it.SKU)
		case "count":
			p.once(&seen, 2, "/count")
			it.Count = p.integer("/count", 1, 1<<62)
		case "price":
			p.once(&seen, 4, "/price")
			it.Price = p.amount("/price")
		case "note":
			p.once(&seen, 8, "/note")
			it.Note = p.text("/note", 0, 200)
		default:
			p.unknown("", key)
		}
	}
	p.needs(seen, "", "sku", "count", "price", "note")
}

func (p *scan) alphanumeric(where, s string) {
	for i := range len(s) {
		if c := s[i] | 0x20; (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') {
			p.fault(where, "expected letters and digits")
			return
		}
	}
}

func (p *scan) labels() map[string]string {
	if !p.open('{', "/labels", "expected an object") {
		return nil
	}
	labels := make(map[string]string, 4)
	for key, ok := p.key(true); ok; key, ok = p.key(false) {
		if _, twice := labels[key]; twice || len(key) > 20 {
			p.fault("/labels/"+key, "expected once, of at most 20 characters")
		}
		labels[key] = p.text("/labels", 1, 1<<20)
	}
	if len(labels) > 10 {
		p.fault("/labels", "expected at most 10")
	}
	return labels
}

// BookingByHand is the same for a booking.
func BookingByHand(doc string) (Booking, []Fault) {
	p := scan{s: doc}
	var b Booking
	p.booking(&b)
	p.end()
	return b, p.faults
}

func (p *scan) booking(b *Booking) {
	if !p.open('{', "", "expected an object") {
		return
	}
	seen := 0
	for key, ok := p.key(true); ok; key, ok = p.key(false) {
		switch key {
		case "city":
			p.once(&seen, 1, "/city")
			b.City = p.text("/city", 1, 60)
		case "nights":
			p.once(&seen, 2, "/nights")
			b.Nights = p.integer("/nights", 1, 30)
		case "room":
			p.once(&seen, 4, "/room")
			b.Room = p.oneOf("/room", "single", "double")
		default:
			p.unknown("", key)
		}
	}
	p.needs(seen, "", "city", "nights", "room")
}
