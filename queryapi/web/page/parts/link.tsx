import type { ComponentChildren } from "preact"

// Outside is a link to a page of the web, if it is one: texts of answers may hold anything.
export function Outside({ url, text }: { url: string; text?: ComponentChildren }) {
  const shown = text || url
  if (!hostOf(url)) return <>{shown}</>
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow">
      {shown}
    </a>
  )
}

// hostOf returns the host of a page of the web; "" of any other address.
export function hostOf(url: string): string {
  if (!/^https?:\/\//i.test(url)) return ""
  try {
    const { host } = new URL(url)
    return /^[\w.:[\]-]+$/.test(host) ? host : ""
  } catch {
    return ""
  }
}
