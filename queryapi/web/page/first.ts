// The first part of the script: the frame, the first screens, and what all screens are built of.
export { later } from "./later.tsx"
export { Frame, Screen } from "./parts/frame.tsx"
export { Failed, Skeleton } from "./parts/state.tsx"
export { BrandList } from "./screens/brands.tsx"
export { NotFound } from "./screens/not_found.tsx"
export { Overview } from "./screens/overview.tsx"
export { SignIn } from "./screens/sign_in.tsx"
