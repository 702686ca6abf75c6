// The third part of the script: the screens that change something.
import "./first.ts" // so that all that it has is shared
export { BrandSettings } from "./screens/brand_settings.tsx"
export { SetUp } from "./screens/set_up.tsx"
export { Settings } from "./screens/settings.tsx"
export { Tracking } from "./screens/tracking.tsx"
