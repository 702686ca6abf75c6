// The fourth part of the script: what is told to others, and what a share link shows them.
import "./first.ts" // so that all that it has is shared
export { ShareDialog, ShareLinks } from "./screens/share_links.tsx"
export { Shared } from "./screens/shared.tsx"
