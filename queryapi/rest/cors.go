package rest

import (
	"net/http"
	"slices"
	"strings"
)

// preflight is whether a browser asks what a page may send.
func (in incoming) preflight() bool {
	return in.method == http.MethodOptions && in.header("Origin") != "" && in.header("Access-Control-Request-Method") != ""
}

const (
	allowedMethods = "GET, POST, PATCH, PUT, DELETE, OPTIONS, HEAD"
	exposedHeaders = "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Location, Server, Transfer-Encoding, Range-Unit, Preference-Applied"
	preflightAge   = "86400"
)

// shared are the headers that let pages of other origins read an answer.
func (a *API) shared(in incoming) [][2]string {
	if a.own {
		return nil
	}
	origin := in.header("Origin")
	if origin == "" {
		if in.method == http.MethodOptions {
			return [][2]string{{"Access-Control-Allow-Origin", "*"}}
		}
		return nil
	}
	headers := [][2]string{{"Access-Control-Allow-Origin", "*"}}
	if len(a.cfg.Origins) > 0 {
		if !slices.Contains(a.cfg.Origins, origin) {
			return nil
		}
		headers = [][2]string{{"Access-Control-Allow-Origin", origin}, {"Access-Control-Allow-Credentials", "true"}}
	}
	if !in.preflight() {
		return append(headers, [2]string{"Access-Control-Expose-Headers", exposedHeaders})
	}
	allowed := []string{"Authorization"}
	for name := range strings.SplitSeq(in.header("Access-Control-Request-Headers"), ",") {
		if name = strings.TrimSpace(name); name != "" && !strings.EqualFold(name, "Authorization") {
			allowed = append(allowed, name)
		}
	}
	for _, name := range []string{"Accept", "Accept-Language", "Content-Language"} {
		if !slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, name) }) {
			allowed = append(allowed, name)
		}
	}
	return append(headers, [2]string{"Access-Control-Allow-Methods", allowedMethods},
		[2]string{"Access-Control-Allow-Headers", strings.Join(allowed, ", ")}, [2]string{"Access-Control-Max-Age", preflightAge})
}
