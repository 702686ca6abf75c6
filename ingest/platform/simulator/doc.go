// Package simulator is a platform that answers without asking an AI. An answer depends on the seed and the question
// alone, never on a clock or a shared source of randomness: the same question gets the same answer on every machine, and
// the demo and the benches can be repeated.
//
// It names one brand and its competitors (the Cast): how often differs by model and drifts over weeks. It cites their
// pages and others', has days of outage, and its models are renewed. Every answer begins by saying, in its own language,
// that it is simulated.
package simulator
