// The screens of a brand, in the order of the navigation, in its groups. web.go lists their paths too. Those
// of group 0 are in no group: g and the key, or another screen, lead there.
export const screens = [
  { path: "", name: "Overview", key: "o", group: 1 },
  { path: "opportunities", name: "Opportunities", key: "n", group: 1 },
  { path: "alerts", name: "Alerts", key: "l", group: 1 },
  { path: "competitors", name: "Competitors", key: "c", group: 2 },
  { path: "prompts", name: "Prompts", key: "p", group: 2 },
  { path: "answers", name: "Answers", key: "a", group: 2 },
  { path: "sources", name: "Sources", key: "s", group: 2 },
  { path: "searches", name: "Searches", key: "q", group: 2 },
  { path: "shopping", name: "Shopping", key: "h", group: 2 },
  { path: "traffic", name: "Traffic", key: "t", group: 3 },
  { path: "tracking", name: "Tracking", key: "k", group: 4 },
  { path: "settings", name: "Settings", key: "e", group: 4 },
  { path: "report", name: "Report", key: "r", group: 0 },
] as const
