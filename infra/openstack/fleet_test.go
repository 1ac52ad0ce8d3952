package openstack

// lab is the fleet that CAPO made on a real OpenStack.
const lab = "../../testdata/openstack/"
