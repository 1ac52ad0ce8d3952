package list

import (
	"net/url"
	"strings"

	"drift-detector/internal/lazyregexp"
)

// This file is how the bootstrap data of a VM says which API it was to join.

var (
	endpointLine = lazyregexp.New(`(?:apiServerEndpoint|controlPlaneEndpoint)\\?"?:[ \t]*\\?["']?([A-Za-z0-9._\[\]:-]+:[0-9]{1,5})`)
	serverLine   = lazyregexp.New(`(?m)^[ \t]*(?:- )?\\?"?server\\?"?:[ \t]*\\?["']?https://([A-Za-z0-9._\[\]:-]+)`)
	// rancherFile is the configuration of RKE2 and k3s, and k0sToken that of k0s:
	// other "server:" lines are those of whatever the operator puts on his machines.
	rancherFile = lazyregexp.New(`/etc/rancher/(?:rke2|k3s)/config\.yaml`)
	k0sToken    = lazyregexp.New(`k0s`)
	blob        = lazyregexp.New(`[A-Za-z0-9+/]{60,}={0,2}`)
)

// maxBlobs bounds how many encoded files of one bootstrap data are looked into.
const maxBlobs = 64

// endpointIn finds the endpoint in kubeadm's join or init configuration, inside
// cloud-init's YAML or, percent-encoded, Ignition's JSON; where there is none, in the
// join data of RKE2, k3s or k0s. Bootstrap data that names two endpoints proves none.
func endpointIn(data string) string {
	texts := []string{data}
	if plain, err := url.PathUnescape(data); err == nil && plain != data {
		texts = append(texts, plain)
	}
	if found, any := onlyOne(texts, endpointLine); any {
		return found
	}
	rancher, k0s := rancherFile.MatchString(strings.Join(texts, "\n")), k0sToken.MatchString(data)
	if !rancher && !k0s {
		return ""
	}
	for _, b := range blob.FindAllString(data, maxBlobs) {
		if plain := decoded(b); plain != b {
			texts = append(texts, plain)
		}
	}
	if !rancher { // k0s has its kubeconfig in a token
		texts = texts[1:]
	}
	found, _ := onlyOne(texts, serverLine)
	return found
}

// onlyOne returns what an expression finds when that is one text only.
func onlyOne(texts []string, line *lazyregexp.Regexp) (found string, any bool) {
	for _, text := range texts {
		for _, m := range line.FindAllStringSubmatch(text, -1) {
			e := strings.ToLower(m[1])
			if any && found != e {
				return "", true
			}
			found, any = e, true
		}
	}
	return found, any
}
