// Package azuresdk holds tests alone: they serve one scenario by the fake servers that Azure's
// SDK for Go generates from Azure's own API descriptions, and by internal/lab/azurelab, and hold
// that infra/azure lists both alike. The SDK's types know no property that Azure does not have,
// and write what they have in another way: what the lab's fake calls differently, or what
// infra/azure reads in one way of writing only, is not listed. It is a module of its own, so
// that nothing of the SDK weighs on drift-detector's.
package azuresdk
