package vsphere

import (
	"net/netip"
	"strings"

	"drift-detector/infra"
)

// This file is how the API that a VM was to join, by its bootstrap data, is compared with
// those of the backup.

// registration are the ports at which control-plane machines take others in, on their
// own addresses or behind the cluster's: RKE2's supervisor (cluster-api-provider-rke2
// pkg/rke2/config.go, DefaultRKE2JoinPort) and k0s's join API.
var registration = map[string]bool{"9345": true, "9443": true}

// splitEndpoint returns the host and the port of an endpoint, as net.SplitHostPort does:
// what contacts nothing does not import package net. It is false where that is an error.
func splitEndpoint(endpoint string) (host, port string, ok bool) {
	at := strings.LastIndexByte(endpoint, ':')
	if at < 0 {
		return "", "", false
	}
	host, port = endpoint[:at], endpoint[at+1:]
	if n := len(host); n > 1 && host[0] == '[' && host[n-1] == ']' {
		host = host[1 : n-1]
	} else if strings.Contains(host, ":") {
		return "", "", false
	}
	if strings.ContainsAny(host, "[]") || strings.ContainsAny(port, "[]") {
		return "", "", false
	}
	return host, port, true
}

// joinsKey returns a key of a VM that was to join an endpoint. A name says nothing about
// an address nor the other way round, so that they are keys of different kinds; and
// so are those of a port that machines have of their own, of which only the host counts.
func joinsKey(endpoint string) infra.Key {
	host, port, ok := splitEndpoint(endpoint)
	if !ok {
		host = strings.Trim(endpoint, "[]")
	}
	if registration[port] || port == "" {
		return joinsHost(host)
	}
	return infra.Key{Kind: infra.KeyKindOf("joinsEndpoint" + formOf(host)), Value: infra.Endpoint{Host: host, Port: port}.String()}
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
	host, _, ok := splitEndpoint(endpoint)
	if !ok {
		host = endpoint
	}
	keys := append(make([]infra.Key, 0, 2+len(planes)), joinsKey(strings.ToLower(endpoint)), joinsHost(host))
	if formOf(host) == "Address" {
		for _, a := range planes {
			keys = append(keys, joinsHost(a))
		}
	}
	return keys
}
