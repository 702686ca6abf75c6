// Package platform is the interface of AI platforms: one prompt is asked; a reply comes back, or an error whose class
// says what to do about it. A package per platform implements it; internal/cli puts the configured ones into a Registry.
package platform
