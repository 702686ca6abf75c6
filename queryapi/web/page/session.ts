import { signal } from "@preact/signals"
import type { Session } from "./bodies.ts"

// meta is the content of a meta element of the document, by which the server describes this installation (web.go): the
// OpenID provider's name, "" for none; the screens that may be shared; whether mails are sent; the names of platforms.
export const meta = (name: "oidc" | "share" | "mails" | "platforms") => document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)?.content ?? ""

export const shareable = meta("share").split(" ")

export const editor = signal(false) // whether the viewer may edit

// What a role may do; the database says it again.
export const mayEdit = (session: Session) => session.role !== "viewer"
export const mayManage = (session: Session) => session.role === "owner" || session.role === "admin"
export const isOwner = (session: Session) => session.role === "owner"

export const roles = ["viewer", "member", "admin", "owner"] // each may do what those before it may
export const outranks = (session: Session, role: string) => roles.indexOf(session.role) >= roles.indexOf(role)
