// Package collector takes beacons from the pages of brands and appends them to the log as visits.
//
// POST /t/collect is beacon.go, top to bottom. It checks in this order, and the first check that fails is the answer:
//
//  1. the method                               405; OPTIONS is a preflight (answer.go)
//  2. Content-Encoding, Content-Type           415
//  3. the size of the body, 8,192 bytes        413
//  4. the body as a whole                      400 (decode.go, goal.go)
//  5. each beacon's brand and origin           403
//  6. the limit of each site                   429 (limit.go)
//  7. what is dropped on purpose               204 with X-Answerscope (visit.go)
//  8. room on the log or in the spool          503
//  9. the log or the spool has it              204
//
// An array is answered as one: all of its beacons pass, or none is counted. Beacons count towards a site's limit only
// once their origin is known to be the site's, so that a stranger does not use it up; those that are dropped count.
//
// The hot path asks no database, takes no lock that all cores share, and keeps nothing of a request: a visitor's
// address goes into two functions of package visitor and no further.
package collector
