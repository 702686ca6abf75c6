// The screens of a brand, in the order of the navigation. web.go lists their paths too.
export const screens = [
  { path: "", name: "Overview" },
  { path: "competitors", name: "Competitors" },
  { path: "prompts", name: "Prompts" },
  { path: "answers", name: "Answers" },
  { path: "sources", name: "Sources" },
  { path: "traffic", name: "Traffic" },
  { path: "shopping", name: "Shopping" },
  { path: "tracking", name: "Tracking" },
  { path: "settings", name: "Settings" },
] as const
