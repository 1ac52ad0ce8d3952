package list

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/openstack"
	"drift-detector/internal/lazyregexp"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// maxPages bounds a server that never stops. A page has 1000 servers unless the cloud says
// otherwise (nova conf/api.py 34.0.0, max_limit).
const maxPages = 2000

// maxServers bounds a cloud that makes them up, as it does VMs of a vCenter.
const maxServers = 500_000

// Microversions of Nova's API (nova rest_api_version_history.rst 34.0.0): from cells on,
// servers of a cell that is down are listed without their properties, and silently left
// out before; from asked on, a server's host name is in the list.
const (
	cells = "2.69"
	asked = "2.90"
)

// provider implements infra.Provider. Its only state is the accounts, and the count of failed
// logins, which must outlive a single listing.
type provider struct {
	openstack.Provider
	logins   *infra.Logins
	accounts accounts
	retry    infra.Retry
}

// New returns the OpenStack provider. One value serves one run: it counts the logins that
// failed, so that no account is locked.
func New() infra.Provider {
	retry := infra.Patient
	retry.Also = overloaded
	return &provider{Provider: openstack.Provider{Getenv: os.Getenv}, logins: &infra.Logins{}, retry: retry}
}

// Targets notes who may log in, of which a listing has to know, see accounts.
func (p *provider) Targets(s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) []infra.Target {
	all := p.Provider.Targets(s, secrets, a)
	for i := range all {
		p.note(&all[i])
	}
	return all
}

// Reach notes who may log in, as Targets does.
func (p *provider) Reach(at string, s infra.Sought) infra.Target {
	t := p.Provider.Reach(at, s)
	p.note(&t)
	return t
}

// note notes the accounts that a target has credentials of.
func (p *provider) note(t *infra.Target) {
	if c, ok := t.Credential.(openstack.Credential); ok {
		p.accounts.note(&c)
	}
	for _, o := range t.Own {
		if c, ok := o.Credential.(openstack.Credential); ok {
			p.accounts.note(&c)
		}
	}
}

// listing is one listing under way.
type listing struct {
	*infra.Listing
	target    infra.Target
	recorded  *openstack.Recorded
	cloud     *cloud
	retry     infra.Retry
	marks     map[infra.Key]bool     // probes to look for
	named     map[infra.Key]string   // ids of those that were found by name
	managed   map[string]infra.Key   // probes of kind KeyRenamed, by kind and id
	floating  map[string]string      // floating IPs of API servers, by the port that each is attached to
	kept      map[string][]string    // floating IPs that servers are to have, by their ids
	portless  map[string][]infra.Key // probes of kind KeyPortless of ports that are not there, by address
	ids       []string               // of servers that the backup records
	seen      map[[16]byte]bool      // ids of servers
	ports     ports
	external  string            // id of the first external network
	pools     map[string]string // ids of pools that are looked for, by name
	addressed bool              // a server has an address, and so a port
}

// List reads all servers of a project, its ports, and what else the backup names there.
func (p *provider) List(ctx context.Context, t infra.Target) infra.Listing {
	d, made := t.Detail.(*openstack.Detail)
	c, mine := t.Credential.(openstack.Credential)
	l, ok := t.Begin(openstack.Name, made && mine)
	if !ok {
		l.Facts = openstack.LackingOwn(&t)
		return l
	}
	used := &c
	var shown []*x509.Certificate
	v, err := p.connect(ctx, t, d, used, &shown)
	own := outcomeOf(err)
	if c.Instead != nil && (codeOf(err) == http.StatusUnauthorized || errors.Is(err, infra.ErrLockout)) {
		l.Warnings = append(l.Warnings, fmt.Sprintf("%s refuses the credential of %s: %s is used instead", where(t), t.Subject.The(), c.InsteadSource))
		used = c.Instead
		var again []*x509.Certificate
		v, err = p.connect(ctx, t, d, used, &again)
	}
	p.noteAccess(ctx, &t, d, used, own, shown, &l)
	if err != nil {
		l.Fault = connectFault(ctx, t, used, err)
		return l
	}
	defer v.logout(ctx)
	v.own = v.own && t.Own == nil
	l.Account, l.Identity = cmp.Or(v.project.Name, v.project.ID), v.project.ID
	run := listing{
		Listing: &l, target: t, recorded: d.Recorded, ids: d.IDs, cloud: v, retry: p.retry,
		marks: map[infra.Key]bool{}, named: map[infra.Key]string{}, managed: map[string]infra.Key{}, floating: map[string]string{}, kept: map[string][]string{}, portless: map[string][]infra.Key{}, seen: map[[16]byte]bool{}, ports: newPorts(), pools: map[string]string{},
	}
	for _, k := range t.Probes {
		run.mark(k)
	}
	run.read(ctx)
	return l
}

// mark takes a probe that is looked for.
func (l *listing) mark(k infra.Key) {
	l.marks[k] = true
	first, rest, _ := strings.Cut(k.Value, "/")
	switch k.Kind {
	case openstack.KeyRenamed:
		id, _, _ := strings.Cut(rest, "/")
		l.managed[first+"/"+id] = k
	case openstack.KeyLost:
		l.kept[first] = append(l.kept[first], rest)
	}
}

func (l *listing) read(ctx context.Context) {
	ports := l.readPorts(ctx)
	l.readPortless()
	l.Fault = l.readServers(ctx)
	if l.Fault == nil {
		l.readTaken()
		l.noteRouted()
		l.Fault = ports
	}
	if l.Fault == nil && l.addressed && !l.ports.attached {
		l.Fault = listFault(ctx, l.target, "listing ports", answerError("servers have addresses, and the list of ports holds none of a server"))
	}
	if l.Fault == nil {
		l.readProbes(ctx)
		// What was interrupted here is whole in its servers, but must not look as if all of
		// it had been asked for.
		l.Fault = infra.CutOff(ctx, where(l.target))
	}
	sorting.By(l.Instances, func(a, b infra.Instance) int { return cmp.Compare(a.Identity, b.Identity) })
	slices.SortFunc(l.ProbesFound, capi.CompareKeys)
	l.ProbesFound = slices.Compact(l.ProbesFound)
	slices.SortFunc(l.Unread, infra.KeyKind.Compare)
	l.Unread = slices.Compact(l.Unread)
	switch {
	case l.Fault == nil:
		l.State = code.ScopeComplete
	case l.Count() > 0:
		l.State = code.ScopePartial
	}
}

// readServers lists the project, unfiltered: what a server is named is no reason to leave
// it out. The first question has no parameters, a limit neither: only then Nova lists the
// servers of cells that are down, as far as the page has room for them
// (_is_cell_down_supported in nova/api/openstack/compute/servers.py, get_all in
// nova/compute/api.py 34.0.0).
func (l *listing) readServers(ctx context.Context) *infra.Fault {
	compute := l.cloud.services[typeCompute]
	compute.Microversion = asked
	at := compute.ServiceURL("servers", "detail")
	next, size, paged := at, 0, false
	for n := range maxPages {
		page, err := readPage[serverAnswer](ctx, l, compute, next, "servers")
		if older := olderVersion(err); n == 0 && older != "" {
			compute.Microversion = older
			page, err = readPage[serverAnswer](ctx, l, compute, next, "servers")
		}
		if err == nil {
			err = l.take(page.items)
		}
		if err != nil {
			return listFault(ctx, l.target, fmt.Sprintf("listing servers broke off after %d", l.Count()), err)
		}
		l.target.Found(l.Count())
		size, paged = max(size, len(page.items)), paged || page.more || n > 0 && len(page.items) > 0
		// A page that may be full is the last when nothing is behind it: that a link is there
		// proves that there is more, and that none is there proves nothing.
		last := !page.more && (n > 0 && len(page.items) < size || len(page.items) == 0)
		if marker := markerOf(page.items); !last && (page.more || marker != "") {
			next = at + "?" + url.Values{"marker": {cmp.Or(marker, page.items[len(page.items)-1].ID)}}.Encode()
			continue
		}
		l.Facts = append(l.Facts, infra.Fact{Name: openstack.FactCompute, Value: cmp.Or(infra.Brief(page.version), "2.1")})
		return l.readMissing(ctx, paged, page.version)
	}
	return listFault(ctx, l.target, "listing servers", answerError(fmt.Sprintf("there are more than %d pages", maxPages)))
}

// markerOf returns the id of the last server of a page, or "" where Nova does not know it as a
// marker because its cell is down.
func markerOf(page []serverAnswer) string {
	if n := len(page); n > 0 && page[n-1].Name != "" {
		return page[n-1].ID
	}
	return ""
}

// markers are the ids after which pages of a list began.
type markers map[string]bool

// add notes one. It is an error where the list has led there before.
func (m *markers) add(id string) error {
	if (*m)[id] {
		return errRepeats
	}
	if *m == nil {
		*m = markers{}
	}
	(*m)[id] = true
	return nil
}

// errRepeats says that a list goes round in a circle.
const errRepeats = answerError("its pages repeat")

// page is one answer to a question for a list.
type page[T any] struct {
	items   []T
	more    bool
	version string // microversion that the service answered in
}

// readPage reads one list, element by element, and whether there is more of it.
func readPage[T any](ctx context.Context, l *listing, service *gophercloud.ServiceClient, at, member string) (out page[T], err error) {
	err = l.retry.Do(ctx, func() error {
		out = page[T]{}
		res, err := service.Get(ctx, at, nil, &gophercloud.RequestOpts{KeepResponseBody: true})
		if err != nil {
			return err
		}
		defer res.Body.Close()
		out.version = versionOf(res.Header)
		found := false
		err = members(json.NewDecoder(res.Body), func(dec *json.Decoder, name string) error {
			switch name {
			case member:
				found = true
				return elements(dec, func() error {
					var one T
					err := dec.Decode(&one)
					out.items = append(out.items, one)
					return err
				})
			case member + "_links":
				var links []struct{ Rel string }
				err := dec.Decode(&links)
				out.more = slices.ContainsFunc(links, func(l struct{ Rel string }) bool { return l.Rel == "next" })
				return err
			}
			return infra.SkipJSON(dec)
		})
		switch {
		case err == nil && !found:
			err = lacking(member)
		case err == nil && out.more && len(out.items) == 0:
			err = answerError(fmt.Sprintf("the answer holds no %s, and says that there are more", member))
		}
		return err
	})
	return out, err
}

// members walks a JSON object.
func members(dec *json.Decoder, visit func(*json.Decoder, string) error) error {
	if t, err := dec.Token(); err != nil {
		return cutOff(err)
	} else if t != json.Delim('{') {
		return answerError("the answer is no JSON object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return cutOff(err)
		}
		key, _ := name.(string) // in an object every other token is one
		if err := visit(dec, key); err != nil {
			return cutOff(err)
		}
	}
	_, err := dec.Token()
	return cutOff(err)
}

// elements walks a JSON array.
func elements(dec *json.Decoder, visit func() error) error {
	if t, err := dec.Token(); err != nil {
		return err
	} else if t != json.Delim('[') {
		return answerError("where a list should be, the answer holds something else")
	}
	for dec.More() {
		if err := visit(); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// cutOff makes one error of the two that an answer gives which ends too soon.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// versionOf returns the microversion that an answer of Nova is in, or "".
func versionOf(h http.Header) string {
	if v, ok := strings.CutPrefix(h.Get("OpenStack-API-Version"), typeCompute+" "); ok {
		return v
	}
	return h.Get("X-OpenStack-Nova-API-Version")
}

var highest = lazyregexp.New(`(?i)maximum is (2\.[0-9]{1,4})\b`)

// olderVersion returns the microversion to ask for instead where Nova says that it does not know
// the one that was asked for; it is empty for every other error.
func olderVersion(err error) string {
	var status gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &status) || status.Actual != http.StatusNotAcceptable {
		return ""
	}
	if m := highest.FindSubmatch(status.Body); m != nil {
		return string(m[1])
	}
	return "2.1"
}

// maxMissing bounds how many servers are looked up by themselves.
const maxMissing = 500

// readMissing looks up the servers that the backup records and the list lacks, one by one,
// where the list may lack them silently because their cell is down: in a list of more than
// one page, and before microversion 2.69. Of a server that is gone Nova says 404, and of
// one whose cell is down what little it knows, or 500.
func (l *listing) readMissing(ctx context.Context, paged bool, version string) *infra.Fault {
	the, old := l.target.Subject.The(), !openstack.AtLeast(version, cells)
	if !old && !paged {
		return nil
	}
	if old {
		l.Warnings = append(l.Warnings, fmt.Sprintf("%s: Nova answers in microversion %s, and before %s it leaves out servers of cells that are down without a word: those that %s records were looked up one by one, and others may be missing",
			where(l.target), cmp.Or(version, "2.1"), cells, the))
	}
	var ids []string
	for _, id := range l.ids {
		if raw, ok := idOf(id); ok && !l.seen[raw] {
			ids = append(ids, id)
		}
	}
	if len(ids) > maxMissing {
		return listFault(ctx, l.target, "looking up servers that "+the+" records", answerError(fmt.Sprintf("%d of them are not in the list, which may lack those of a cell that is down; no more than %d are looked up one by one", len(ids), maxMissing)))
	}
	listed := l.Count()
	for _, id := range ids {
		if err := l.lookUpServer(ctx, id); err != nil {
			return listFault(ctx, l.target, "looking up a server that "+the+" records", err)
		}
	}
	if n := l.Count() - listed; n > 0 && !old {
		l.Warnings = append(l.Warnings, fmt.Sprintf("%s: the list lacks %d of the servers that %s records and that exist, those of a cell that is down: it may lack others of that cell, which %[3]s does not know", where(l.target), n, the))
	}
	return nil
}

// lookUpServer takes one server by its id, if there is one.
func (l *listing) lookUpServer(ctx context.Context, id string) error {
	compute := l.cloud.services[typeCompute]
	var one struct{ Server *serverAnswer }
	retry := l.retry
	retry.Also = nil // 500 is what an old Nova says of a cell that is down
	err := retry.Do(ctx, func() error {
		one.Server = nil
		_, err := compute.Get(ctx, compute.ServiceURL("servers", id), &one, nil)
		return err
	})
	switch {
	case codeOf(err) == http.StatusNotFound:
		return nil
	case codeOf(err) == http.StatusInternalServerError:
		one.Server = &serverAnswer{ID: id}
	case err != nil:
		return err
	case one.Server == nil || openstack.UUIDOf(one.Server.ID) != id:
		return answerError("the answer is about something else than what was asked for")
	}
	return l.take([]serverAnswer{*one.Server})
}

// take adds the servers of a page.
func (l *listing) take(page []serverAnswer) error {
	fresh := false
	for i := range page {
		s := &page[i]
		s.ID = openstack.UUIDOf(s.ID)
		id, ok := idOf(s.ID)
		if !ok {
			return answerError("the answer holds a server without an id")
		}
		if s.Project != "" && s.Project != l.Identity {
			return answerError("the answer holds a server of another project than the login's")
		}
		if len(s.Name) > openstack.MaxName || len(s.Status) > openstack.MaxName {
			return answerError(fmt.Sprintf("the answer holds a name of more than %d bytes", openstack.MaxName))
		}
		if l.seen[id] {
			continue
		}
		l.seen[id], fresh = true, true
		l.addressed = l.addressed || len(s.Addresses) > 0
		l.File(&l.target, l.instance(s))
	}
	switch {
	case !fresh && len(page) > 0:
		return errRepeats
	case l.Count() > maxServers:
		return answerError(fmt.Sprintf("there are more than %d servers", maxServers))
	}
	return nil
}

// idOf returns a UUID in the 16 bytes that it is.
func idOf(uuid string) (id [16]byte, ok bool) {
	raw, err := hex.DecodeString(strings.ReplaceAll(uuid, "-", ""))
	return id, copy(id[:], raw) == len(id) && err == nil
}
