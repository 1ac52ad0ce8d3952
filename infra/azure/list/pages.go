package list

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"drift-detector/infra"
	"drift-detector/infra/azure"
)

// maxPages bounds a server that never stops.
const maxPages = 5000

// Versions of the API (as CAPZ v1.26.0 and Azure Service Operator 2.18.0 ask for them).
const (
	computeVersion = "2024-03-01"
	networkVersion = "2023-05-01"
	groupVersion   = "2021-04-01"
)

// versionOf returns the version to ask for something of a type.
func versionOf(kind string) string {
	switch {
	case kind == azure.KindGroup:
		return groupVersion
	case strings.HasPrefix(kind, "microsoft.compute/"):
		return computeVersion
	case kind == azure.KindZone:
		return "2018-09-01"
	}
	return networkVersion
}

// list reads a paged list, element by element. Each page says where the next is, and only an
// address of the same server is gone to: the token is in the request.
func list[T any](ctx context.Context, s *session, path, query string, take func(*T) error) error {
	next := path + "?" + query
	seen := map[string]bool{}
	var quiet infra.Quiet
	for range maxPages {
		if seen[next] {
			return answerError("its pages repeat")
		}
		seen[next] = true
		page, link, err := readPage[T](ctx, s, next)
		if err != nil {
			return err
		}
		for i := range page {
			if err := take(&page[i]); err != nil {
				return err
			}
		}
		if link == "" {
			return nil
		}
		if next, err = s.local(link); err != nil {
			return err
		}
		if err := quiet.Page(len(page) > 0); err != nil {
			return answerError("it does not end: " + err.Error())
		}
	}
	return answerError(fmt.Sprintf("there are more than %d pages", maxPages))
}

// readPage reads one page.
func readPage[T any](ctx context.Context, s *session, at string) (page []T, link string, err error) {
	err = s.get(ctx, at, func(dec *json.Decoder) error {
		page, link = nil, ""
		var answer struct {
			Value    *[]T
			NextLink *string
		}
		if err := dec.Decode(&answer); err != nil {
			return err
		}
		if answer.Value == nil {
			return answerError("the answer holds no list")
		}
		page = *answer.Value
		if answer.NextLink != nil {
			link = *answer.NextLink
		}
		return nil
	})
	return page, link, err
}

// local returns the path and query of a link, which has to lead to the server that gave it.
func (s *session) local(link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil || !strings.HasPrefix(u.Path, "/") {
		return "", answerError("the address of its next page is none")
	}
	port := u.Port()
	if u.Scheme != "https" || u.User != nil || !strings.EqualFold(u.Hostname(), s.at.Manager.Host) || port != "" && port != s.at.Manager.Port {
		return "", answerError("its next page is at another server, which is not contacted")
	}
	u.Fragment = ""
	return u.RequestURI(), nil
}

// cutOff makes one error of the two that an answer gives which ends too soon.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// answerError says that an answer is not one of Azure's.
type answerError string

func (e answerError) Error() string { return string(e) }
