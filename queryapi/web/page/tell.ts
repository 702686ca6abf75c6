// The fourth part of the script: what is told to users and to others, and what a share link shows them.
import "./first.ts" // so that all that it has is shared
export { Alerts, NotifyDialog } from "./screens/alerts.tsx"
export { AuditLog } from "./screens/audit_log.tsx"
export { Members } from "./screens/members.tsx"
export { PasswordDialog } from "./screens/password.tsx"
export { ShareDialog, ShareLinks } from "./screens/share_links.tsx"
export { Shared } from "./screens/shared.tsx"
export { Webhooks } from "./screens/webhooks.tsx"
