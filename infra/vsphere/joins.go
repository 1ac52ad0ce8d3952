package vsphere

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"drift-detector/infra"
)

// This file is how the bootstrap data of a VM says which API it was to join.

var (
	endpointLine = regexp.MustCompile(`(?:apiServerEndpoint|controlPlaneEndpoint)\\?"?:[ \t]*\\?["']?([A-Za-z0-9._\[\]:-]+:[0-9]{1,5})`)
	serverLine   = regexp.MustCompile(`(?m)^[ \t]*(?:- )?\\?"?server\\?"?:[ \t]*\\?["']?https://([A-Za-z0-9._\[\]:-]+)`)
	// rancherFile is the configuration of RKE2 and k3s, and k0sToken that of k0s:
	// other "server:" lines are those of whatever the operator puts on his machines.
	rancherFile = regexp.MustCompile(`/etc/rancher/(?:rke2|k3s)/config\.yaml`)
	k0sToken    = regexp.MustCompile(`k0s`)
	blob        = regexp.MustCompile(`[A-Za-z0-9+/]{60,}={0,2}`)
)

// registration are the ports at which control-plane machines take others in, on their
// own addresses or behind the cluster's: RKE2's supervisor (cluster-api-provider-rke2
// pkg/rke2/config.go, DefaultRKE2JoinPort) and k0s's join API.
var registration = map[string]bool{"9345": true, "9443": true}

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
func onlyOne(texts []string, line *regexp.Regexp) (found string, any bool) {
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

// joinsKey returns a key of a VM that was to join an endpoint. A name says nothing about
// an address nor the other way round, so that they are keys of different kinds; and
// so are those of a port that machines have of their own, of which only the host counts.
func joinsKey(endpoint string) infra.Key {
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		host, port = strings.Trim(endpoint, "[]"), ""
	}
	if registration[port] || port == "" {
		return joinsHost(host)
	}
	return infra.Key{Kind: infra.KeyKindOf("joinsEndpoint" + formOf(host)), Value: net.JoinHostPort(host, port)}
}

func joinsHost(host string) infra.Key {
	return infra.Key{Kind: infra.KeyKindOf("joinsEndpointHost" + formOf(host)), Value: strings.ToLower(host)}
}

func formOf(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return "Address"
	}
	return "Name"
}

// expectedJoins returns the endpoints that VMs of a cluster join: its own, and at the
// ports for registration those of its control-plane machines, if it goes by addresses.
func expectedJoins(endpoint string, planes []string) []infra.Key {
	if endpoint == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		host = endpoint
	}
	keys := []infra.Key{joinsKey(strings.ToLower(endpoint)), joinsHost(host)}
	if formOf(host) == "Address" {
		for _, a := range planes {
			keys = append(keys, joinsHost(a))
		}
	}
	return keys
}
