// Package openstacklab serves a recorded OpenStack on loopback: keystone, nova,
// neutron and glance, each at a port of its own, over HTTP or TLS. It answers as
// the real services of testdata/openstack did, word for word where they refuse.
//
// A test may change what exists, let tokens expire, move an endpoint of the
// catalogue to another host, and spoil calls. Objects are JSON as the services
// print it, under the names that their listings have: "servers", "ports".
package openstacklab
