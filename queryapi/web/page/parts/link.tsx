// Outside is a link to a page of the web, if it is one: texts of answers may hold anything.
export function Outside({ url, text }: { url: string; text?: string }) {
  const shown = text || url
  if (!/^https?:\/\//i.test(url)) return <>{shown}</>
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow">
      {shown}
    </a>
  )
}
