// The fifth part of the script: what the brand may do next.
import "./first.ts" // so that all that it has is shared
export { Opportunities } from "./screens/opportunities.tsx"
export { Searches } from "./screens/searches.tsx"
export { Sentiment } from "./screens/sentiment.tsx"
