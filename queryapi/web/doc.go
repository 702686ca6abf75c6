// Package web serves the dashboard: one document for all its addresses, whose script shows the screen. What it shows
// comes from /app/api: the surfaces of this service, with the cookie as the credential (package identity,
// dashboard.go).
//
// The script is written in TypeScript with Preact and bundled by `make page`; served/ has the result, which is
// committed, so that Go alone builds the binary. A test says when it is not of the sources. In page/:
//
//   - route.ts is the address: path and query as signals, go to change them. All state of a screen is in the address.
//   - api.ts is the only file that asks: useAnswer for what is shown, write for changes, after which all is asked again.
//     It turns errors into words, and a lost session into a sign-in that comes back.
//   - bodies.ts has the shapes of bodies, format.ts writes figures. The page computes none: it shows what the API answers.
//   - parts/ has what screens are made of: Screen and Frame, FilterBar, Figure with interval and n, Card, Table with
//     Pages, Trend, Dialog, FormDialog and Confirm for a write, Field, useAction for another form, Shown for an answer that
//     is awaited, Empty for the next step.
//   - screens/ has a file for each screen. style/tokens.css names every colour and distance, for both themes.
//
// A new screen of a brand is a file in screens/, a line in screens/list.ts, in the table of main.tsx and in screens of
// web.go, and a line in isAccessible of internal/system/dashboard_access_test.go. What it shows is compared with the API's
// bodies in dashboard_screens_test.go, its tables in dashboard_rows_test.go. Texts of people and of answers are
// children of elements, and addresses pass through parts/link.tsx.
package web
