// Package scan reads a few values out of each of many JSON documents that are alike, in one
// pass that checks the syntax of all and builds nothing of the rest.
//
// A [Plan] is the tree of the members that are read ([Plan.Add]); a [Scanner] walks each
// document along it and notes in a [Capture] where their values lie. Most documents of a kind
// have the shape of one that was met shortly before, and then are compared with it instead of
// read (shape.go). Documents are hostile until proven otherwise: depth and elements are
// bounded, a member of the plan that occurs twice is an error, and no error quotes the document.
package scan
