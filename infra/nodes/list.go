package nodes

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// List reads the Nodes of one cluster. It is Complete when all were read and
// Failed, without Nodes, in every other case: what half a list says would
// depend on where it broke.
func (p *provider) List(ctx context.Context, t infra.Target) infra.Listing {
	l, ok := t.Credential.(*login)
	if t.Refused != nil || !ok {
		return infra.Listing{State: code.ScopeFailed, Fault: t.Refused, NodeState: t.NodeState, ListedAt: time.Now().UTC()}
	}
	c := p.dial(l, cmp.Or(t.Dial, l.endpoint.String()))
	defer c.transport.CloseIdleConnections()

	read, err := c.all(ctx)
	if err != nil {
		state, fault := c.fault(ctx, err)
		failed := infra.Listing{State: code.ScopeFailed, Fault: fault, NodeState: state, ListedAt: time.Now().UTC()}
		if !l.operators {
			failed.Facts = infra.Facts{{Name: infra.FactCredential, Value: infra.OfBackup}}
		}
		return failed
	}
	var cluster backup.ClusterID
	if len(t.Clusters) > 0 {
		cluster = t.Clusters[0]
	}
	for i := range read.nodes {
		n := &read.nodes[i]
		n.Cluster = cluster
		if n.ProviderID != "" {
			n.Keys = p.others.Keys(n.ProviderID)
		}
	}
	sorting.StableBy(read.nodes, func(a, b infra.Node) int { return cmp.Compare(a.Name, b.Name) })
	whose := infra.OfBackup
	if l.operators {
		whose = infra.OfOperator
	}
	listing := infra.Listing{
		State: code.ScopeComplete, NodeState: stateRead, ListedAt: read.at, Nodes: read.nodes,
		Facts: infra.Facts{{Name: infra.FactCredential, Value: whose}, {Name: infra.FactNodeConditions, Value: "read"}},
	}
	if l.kubeadm {
		c.noteConfig(ctx, &listing)
	}
	return listing
}

// client speaks with one API server.
type client struct {
	login     *login
	address   string // host:port to reach it at
	bounds    bounds
	transport *http.Transport
	logins    *infra.Logins
	current   loginTurn
}

func (p *provider) dial(l *login, address string) *client {
	c := &client{
		login:   l,
		address: address,
		bounds:  p.bounds,
		logins:  &p.logins,
		transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: p.connect}).DialContext,
			TLSClientConfig:        l.tls.Clone(),
			TLSHandshakeTimeout:    p.connect,
			MaxResponseHeaderBytes: 64 << 10,
			MaxConnsPerHost:        1,
		},
	}
	verify := c.transport.TLSClientConfig.VerifyConnection
	c.transport.TLSClientConfig.VerifyConnection = func(cs tls.ConnectionState) error {
		if err := verify(cs); err != nil {
			return err
		}
		return c.prove(cs)
	}
	return c
}

// nodeList is a whole list and the time at which the server gave it.
type nodeList struct {
	nodes []infra.Node
	at    time.Time
	seen  map[string]bool // names of nodes, and tokens of pages with a slash before
}

// first notes a name or a token, and reports whether it is the first of its kind: a
// list holds each Node once, and no page leads to one that was read.
func (l *nodeList) first(s string) bool {
	again := l.seen[s]
	l.seen[s] = true
	return !again
}

// all reads the list page by page. A list that the server let expire meanwhile
// (410 Gone) is begun again, once.
func (c *client) all(ctx context.Context) (nodeList, error) {
	read, err := c.pages(ctx)
	if status := (*errStatus)(nil); errors.As(err, &status) && status.code == http.StatusGone {
		return c.pages(ctx)
	}
	return read, err
}

func (c *client) pages(ctx context.Context) (nodeList, error) {
	read := nodeList{seen: map[string]bool{}}
	retry := c.bounds.retry
	if c.expired() { // a server that cuts connections for that will go on to
		retry.Attempts = 1
	}
	next, announced := "", int64(0)
	var quiet infra.Quiet
	for range c.bounds.pages {
		var one page
		err := retry.Do(ctx, func() (err error) {
			one, err = c.page(ctx, next, c.bounds.nodes-len(read.nodes))
			return err
		})
		if err != nil {
			return nodeList{}, err
		}
		for _, n := range one.nodes {
			if !read.first(n.Name) {
				return nodeList{}, &errAnswer{"it listed one Node twice"}
			}
		}
		read.nodes, read.at, next = append(read.nodes, one.nodes...), one.at, one.next
		if announced == 0 && one.remaining > 0 {
			announced = int64(len(read.nodes)) + one.remaining
		}
		switch n := int64(len(read.nodes)); {
		case next == "" && n < announced:
			return nodeList{}, &errAnswer{fmt.Sprintf("it announced %d Nodes and listed %d", announced, n)}
		case next == "":
			return read, nil
		}
		if err := quiet.Page(len(one.nodes) > 0); err != nil {
			return nodeList{}, &errAnswer{"its list of Nodes does not end: " + err.Error()}
		}
		if !read.first("/" + next) {
			return nodeList{}, &errAnswer{"its list of Nodes leads back to a page that was read"}
		}
	}
	return nodeList{}, &errAnswer{fmt.Sprintf("its list of Nodes does not end after %d pages", c.bounds.pages)}
}

// page is one page, and the token of the next; empty when it is the last.
type page struct {
	nodes []infra.Node
	at    time.Time
	next  string
	// remaining is how many Nodes come after the page, 0 when it does not say. It is exact
	// for a list without a selector (apiserver/pkg/storage/etcd3/store.go v0.36.0).
	remaining int64
}

// page reads the page of a token, of so many Nodes at most.
func (c *client) page(ctx context.Context, token string, most int) (one page, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.bounds.call)
	defer cancel()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = ctx.Err() // else it would be as random as what a closed connection gives
		}
	}()
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if token != "" {
		query.Set("continue", token)
	}
	req, err := c.request(ctx, "/api/v1/nodes?"+query.Encode())
	if err != nil {
		return page{}, err
	}
	// RoundTrip instead of http.Client: it follows no redirect and keeps no cookie.
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		c.settle(0, err)
		return page{}, err
	}
	c.settle(resp.StatusCode, nil)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return page{}, &errStatus{resp.StatusCode}
	}
	one.at = time.Now().UTC()
	// Heartbeats are compared with this time: it must come from the same clock.
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		one.at = at.UTC()
	}
	one.next, one.remaining, err = readPage(pageBounds.JSON(http.MaxBytesReader(nil, resp.Body, c.bounds.page)), func(n infra.Node) error {
		if len(one.nodes) == most {
			return &errAnswer{fmt.Sprintf("it answered with more than %d Nodes", c.bounds.nodes)}
		}
		one.nodes = append(one.nodes, n)
		return nil
	})
	return one, err
}

// request asks for what a path of the API names.
func (c *client) request(ctx context.Context, path string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+c.address+c.login.path+path, nil)
	if err != nil {
		return nil, &errAnswer{"its server cannot be addressed"}
	}
	req.Host = c.login.endpoint.String()
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "drift-detector")
	if !c.login.token.IsZero() {
		req.Header.Set("Authorization", "Bearer "+c.login.token.Reveal())
	}
	return req, nil
}
