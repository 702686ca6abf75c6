// Icons are of 16 pixels, drawn in the colour of their text. They say nothing by themselves: a name stands beside them.
const paths = {
  filter: "M2 4h12M4.5 8h7M7 12h2",
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  chevron: "M4 6l4 4 4-4",
  more: "M8 3.2v.1M8 8v.1M8 12.7v.1",
  menu: "M2 4h12M2 8h12M2 12h12",
  download: "M8 2v8M5 7l3 3 3-3M3 13.5h10",
  flag: "M4 14V2.5h8l-2 3 2 3H4",
  up: "M8 13V3M4 7l4-4 4 4",
  down: "M8 3v10M4 9l4 4 4-4",
  flat: "M3 6.5c2-2 3-2 5 0s3 2 5 0M3 11c2-2 3-2 5 0s3 2 5 0",
  unknown: "M5.5 6a2.5 2.5 0 1 1 3.7 2.2C8.3 8.7 8 9.2 8 10M8 12.9v.1",
  external: "M9 3h4v4M13 3L7.5 8.5M11 9.5V13H3V5h3.5",
  copy: "M6 6h7v7H6zM4 10H3V3h7v1",
  print: "M5 6V2.5h6V6M5 11.5H2.5V6h11v5.5H11M5 9.5h6v4H5z",
}

export type IconName = keyof typeof paths

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={`icon ${name}`} width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
