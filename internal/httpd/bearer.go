package httpd

import "strings"

// Bearer is the credential of an Authorization header of the scheme Bearer (RFC 6750), "" of any other.
func Bearer(authorization string) string {
	scheme, credential, _ := strings.Cut(strings.TrimSpace(authorization), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(credential)
}
