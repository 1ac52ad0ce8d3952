// Package azurelab serves a recorded Azure on loopback: Entra's token endpoint and Azure
// Resource Manager, over TLS, under the names of the public cloud. It holds the state that
// testdata/azure/armfake.py saved, to which unpatched controllers had written, and answers
// what drift-detector reads as that does.
//
// A test may change what exists, take away what an account may read, let tokens expire, and
// spoil calls. Objects are JSON as Azure prints it.
package azurelab
