// Package simulator answers like an AI platform without asking one. What it
// says follows from its seed and the question alone, never from a clock or a
// shared source of chance, so that the same question gets the same answer on
// every machine and the demo and the benches can be repeated.
//
// It knows one brand and its competitors (the Cast) and speaks of them: how
// often each is named drifts over weeks and differs by model, it cites their
// pages and others', it has days of outage, and its models are renewed. Every
// answer begins by saying, in its own language, that it is simulated.
package simulator
