// Package extract reads an answer: who is named in it, how often and in which
// order, what it cites and of what kind that is, in what tone it speaks, which
// products it shows. It is pure: the same record and version give the same
// reading, whenever and wherever it is read.
package extract
