// The second part of the script: the other screens that one looks at.
import "./first.ts" // so that all that it has is shared
export { Markdown } from "./parts/markdown.tsx"
export { Answers } from "./screens/answers.tsx"
export { Competitors } from "./screens/competitors.tsx"
export { Prompts } from "./screens/prompts.tsx"
export { Report } from "./screens/report.tsx"
export { Shopping } from "./screens/shopping.tsx"
export { Sources } from "./screens/sources.tsx"
export { Traffic } from "./screens/traffic.tsx"
export { promptSet } from "./screens/running.tsx"
