package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"

	"drift-detector/backup"
)

// web is one tarball at a URL, which a store has signed or anybody may read. Nothing can
// be listed there; a signature is for one object only.
type web struct {
	client *http.Client
	at     *url.URL
}

func (w web) url(key string) *url.URL {
	u := *w.at
	if u.Path = "/" + key; u.Path != w.at.Path {
		u.RawPath = ""
	}
	return &u
}

func (w web) name(key string) string { return shown(w.url(key)) }

var errNoListing = errors.New("a URL is of one object")

func (w web) each(context.Context, string, func(object) error) error { return errNoListing }

func (w web) folders(context.Context, string) ([]string, error) { return nil, errNoListing }

func (w web) source(ctx context.Context, key, etag string) backup.Source {
	u := w.url(key)
	pinned := &pin{etag: etagOf(etag)}
	return backup.Source{Name: shown(u), Open: func() (io.ReadCloser, error) {
		return open(ctx, pinned, transferred{
			get: func(ctx context.Context, header http.Header) (*http.Response, error) {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
				if err != nil {
					return nil, withoutURL(err)
				}
				req.Header = header
				res, err := w.client.Do(req)
				if err != nil {
					err = withoutURL(err)
					if none := unreached(u.Scheme+"://"+u.Host, err); none != nil {
						return nil, none
					}
					return nil, err
				}
				if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusPartialContent {
					return nil, readRefusal(res)
				}
				return res, nil
			},
			explain: func(err error) error { return explain(ctx, shown(u), reading, err) },
		})
	}}
}

func (w web) small(ctx context.Context, key string, limit int64) ([]byte, error) {
	if w.at.RawQuery != "" {
		return nil, fs.ErrNotExist // what is signed is the tarball
	}
	return small(ctx, w, key, limit)
}
