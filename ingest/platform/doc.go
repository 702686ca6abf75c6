// Package platform is what the rest of the house knows of an AI platform: one
// prompt is asked, a reply comes back, or an error whose class says what to do
// about it. A package per platform implements it; internal/cli hands the
// configured ones out by a Registry.
package platform
