package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"drift-detector/backup/archive"
	"drift-detector/infra"
)

// Bounds on lists. An API server gives what a page asks for, and no object is larger than
// what etcd takes, 1.5 MiB by default; its JSON may be twice that.
const (
	pageSize = 500
	maxPage  = 1 << 30 // bytes of one page: Secrets may have 1 MiB each
	maxPages = 100_000
	maxToken = 16 << 10 // bytes of what leads to the next page; it goes into an address
	slack    = 1 << 20  // what is read ahead of an item
)

// list reads all objects of a resource. Where a conversion webhook does not answer, which is
// the very day on which its controllers are down, the server can still give objects in the
// version in which they are stored: in that of today, or, where none was written since that
// changed, in an earlier one. A list in a version in which not all are stored fails.
func (c *Cluster) list(ctx context.Context, r *resource) (spool, error) {
	all, err := c.listIn(ctx, r, r.version)
	if !is(err, http.StatusInternalServerError) {
		return all, err
	}
	for _, version := range r.stored {
		if version != r.version {
			if stored, e := c.listIn(ctx, r, version); e == nil {
				return stored, nil
			}
		}
	}
	return nil, err
}

func is(err error, status int) bool {
	var e *infra.StatusError
	return errors.As(err, &e) && e.Code == status
}

// listIn reads all objects in a version. A list that the server let expire meanwhile is begun
// again, once.
func (c *Cluster) listIn(ctx context.Context, r *resource, version string) (spool, error) {
	all, err := c.pages(ctx, r, version)
	if is(err, http.StatusGone) {
		return c.pages(ctx, r, version)
	}
	return all, err
}

func (c *Cluster) pages(ctx context.Context, r *resource, version string) (spool, error) {
	var all spool
	var quiet infra.Quiet
	seen := map[[sha256.Size]byte]bool{} // tokens, which may be long
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	count, announced := int64(0), int64(0)
	for range maxPages {
		var one page
		err := c.get(ctx, r.path(version)+"?"+query.Encode(), "application/json", func(body io.Reader, at time.Time) (err error) {
			one, err = readPage(r, version, body, at)
			return err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, one.body)
		if count += one.items; announced == 0 && one.remaining > 0 {
			announced = count + one.remaining // exact, see infra/nodes
		}
		token := sha256.Sum256([]byte(one.next))
		switch {
		case one.next == "" && count < announced:
			return nil, &errAnswer{fmt.Sprintf("the API server announced %d objects and listed %d", announced, count)}
		case one.next == "":
			return all, nil
		case len(one.next) > maxToken, seen[token]:
			return nil, &errAnswer{"its list leads back to a page that was read, or to none"}
		case all.size() > maxSpool:
			return nil, &errAnswer{"its list needs too much memory"}
		}
		if err := quiet.Page(one.items > 0); err != nil {
			return nil, &errAnswer{"its list does not end: " + err.Error()}
		}
		seen[token] = true
		query.Set("continue", one.next)
	}
	return nil, &errAnswer{fmt.Sprintf("its list does not end after %d pages", maxPages)}
}

// one asks for a single object, which may be absent.
func (c *Cluster) one(ctx context.Context, r *resource, namespace, name string) (spool, error) {
	var all spool
	path := "/api/" + r.version + "/namespaces/" + namespace + "/" + r.name + "/" + name
	err := c.get(ctx, path, "application/json", func(body io.Reader, at time.Time) error {
		p := pageReader{resource: r, version: r.version, at: at, in: &bounded{body, archive.DefaultBounds.Item + slack}}
		defer p.close()
		p.dec = jsontext.NewDecoder(p.in)
		v, err := p.dec.ReadValue()
		if err == nil {
			err = p.item(v)
		}
		if err == nil {
			p.page.body = p.flush()
			all = append(all, p.page.body)
		}
		return described(err, errForeign)
	})
	if is(err, http.StatusNotFound) {
		return all, nil
	}
	return all, err
}

const errForeign = "it answered with something that is no list of its objects"

// described turns what a decoder says into words that quote nothing of the answer. Trouble with
// the connection passes through.
func described(err error, foreign string) error {
	var answer *errAnswer
	var beyond *infra.BoundError
	var syntax *jsontext.SyntacticError
	var shape *json.SemanticError
	switch {
	case err == nil, errors.As(err, &answer):
		return err
	case errors.As(err, &beyond):
		return &errAnswer{beyond.Error()}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF // which may be gone when it is asked again
	case errors.As(err, &syntax), errors.As(err, &shape):
		return &errAnswer{foreign}
	}
	return err
}

// bounded is a body that is read no further than it may be.
type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &errAnswer{"its answer, or an object in it, is too long"}
	}
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// page is one page of a list.
type page struct {
	body             []byte // packed
	items, remaining int64
	next             string
}

// pageReader takes a page apart. Objects are handed on as they are; those of built-in kinds
// come without apiVersion and kind, which are put in front.
type pageReader struct {
	page
	packer
	resource *resource
	version  string
	at       time.Time
	in       *bounded // for each item
	dec      *jsontext.Decoder
	whole    []byte // an item with what was put in front
}

func readPage(r *resource, version string, body io.Reader, at time.Time) (page, error) {
	p := &pageReader{resource: r, version: version, at: at, in: &bounded{&bounded{body, maxPage}, archive.DefaultBounds.Item + slack}}
	defer p.close()
	p.dec = jsontext.NewDecoder(p.in)
	if err := p.read(); err != nil {
		return page{}, described(err, errForeign)
	}
	p.page.body = p.flush()
	return p.page, nil
}

func (p *pageReader) read() error {
	if err := p.expect('{'); err != nil {
		return err
	}
	var kind, version string
	var described, listed bool
	for p.dec.PeekKind() != '}' {
		name, err := p.dec.ReadToken()
		if err != nil {
			return err
		}
		switch name.String() {
		case "kind":
			kind, err = p.text()
		case "apiVersion":
			version, err = p.text()
		case "metadata":
			described = true
			err = p.metadata()
		case "items":
			listed = true
			err = p.list()
		default:
			err = p.dec.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	if err := p.expect('}'); err != nil {
		return err
	}
	if _, err := p.dec.ReadToken(); err != io.EOF {
		return &errAnswer{errForeign}
	}
	if kind != p.resource.kind+"List" && kind != "List" || !described || !listed || version != p.resource.apiVersion(p.version) && kind != "List" {
		return &errAnswer{errForeign}
	}
	return nil
}

func (p *pageReader) expect(kind jsontext.Kind) error {
	t, err := p.dec.ReadToken()
	if err == nil && t.Kind() != kind {
		return &errAnswer{errForeign}
	}
	return err
}

func (p *pageReader) text() (string, error) {
	t, err := p.dec.ReadToken()
	if err == nil && t.Kind() != '"' {
		return "", &errAnswer{errForeign}
	}
	return t.String(), err
}

func (p *pageReader) metadata() error {
	var m struct {
		Continue  string `json:"continue"`
		Remaining int64  `json:"remainingItemCount"`
	}
	err := json.UnmarshalDecode(p.dec, &m)
	p.next, p.remaining = m.Continue, m.Remaining
	return err
}

func (p *pageReader) list() error {
	if p.dec.PeekKind() == 'n' { // an empty list
		_, err := p.dec.ReadToken()
		return err
	}
	if err := p.expect('['); err != nil {
		return err
	}
	for p.dec.PeekKind() != ']' {
		v, err := p.dec.ReadValue()
		if err != nil {
			return err
		}
		p.in.left = archive.DefaultBounds.Item + slack
		if err := p.item(v); err != nil {
			return err
		}
		p.items++
	}
	return p.expect(']')
}

// item packs one object, once it is sure whose it is.
func (p *pageReader) item(v jsontext.Value) error {
	r := p.resource
	o, err := named(v)
	switch {
	case err != nil:
		return err
	case !isName(o.name), (o.namespace != "") != r.namespaced, r.namespaced && !isName(o.namespace):
		return &errAnswer{"it lists an object that is named as none can be"}
	case o.kind == "" && o.version == "":
		p.whole = append(p.whole[:0], `{"apiVersion":"`+r.apiVersion(p.version)+`","kind":"`+r.kind+`",`...)
		p.whole = append(p.whole, bytes.TrimPrefix(v, []byte("{"))...)
		v = p.whole
	case o.kind != r.kind || o.version != r.apiVersion(p.version):
		return &errAnswer{"it lists objects of another kind or version than that which was asked for"}
	}
	if int64(len(v)) > archive.DefaultBounds.Item {
		return &errAnswer{"it lists an object that is too long"}
	}
	return p.pack(archive.Path(r.id(), archive.Form{}, o.namespace, o.name), v, p.at)
}

// identified is what names an object.
type identified struct{ version, kind, namespace, name string }

// named reads what names an object, and no further.
func named(v jsontext.Value) (o identified, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(v))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return o, &errAnswer{errForeign}
	}
	seen := false
	for d.PeekKind() != '}' && !(seen && o.kind != "" && o.version != "") {
		t, err := d.ReadToken()
		if err != nil {
			return o, err
		}
		switch t.String() {
		case "apiVersion":
			err = json.UnmarshalDecode(d, &o.version)
		case "kind":
			err = json.UnmarshalDecode(d, &o.kind)
		case "metadata":
			seen = true
			var m struct {
				Name      string `json:"name"`
				Namespace string `json:"namespace"`
			}
			err = json.UnmarshalDecode(d, &m)
			o.namespace, o.name = m.Namespace, m.Name
		default:
			err = d.SkipValue()
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}
