import type { ComponentChild } from "preact"
import type { Answer } from "../bodies.ts"
import { hostOf, Outside } from "./link.tsx"
import type { Marker } from "./marked.tsx"

export const deepest = 8 // lists and quotes in each other, and emphasis in emphasis; what is deeper stays text

// A Line is a part of the source without its line break, and without the marks of the lists and quotes that it is in.
export interface Line {
  from: number
  to: number
}

// Inline makes nodes of lines: of emphasis, code and links. A link to the page of a citation has its number.
export class Inline {
  readonly places = new Set<number>()
  private numbers: Map<string, number>

  constructor(
    private text: string,
    private marker: Marker,
    citations: Answer["citations"],
  ) {
    this.numbers = new Map(citations.map((c, i): [string, number] => [pageOf(c.url), i + 1]).reverse())
  }

  // nodes makes nodes of lines that follow each other.
  nodes(lines: Line[]): ComponentChild[] {
    const tokens: Token[] = []
    lines.forEach((line, i) => {
      if (i > 0) tokens.push({ from: lines[i - 1]!.to, to: lines[i - 1]!.to + 1 })
      this.scan(line, tokens)
    })
    pair(tokens)
    return this.build(tokens)
  }

  // scan cuts a line into tokens. A code span, a link and an address end in their line.
  private scan({ from, to }: Line, tokens: Token[]): void {
    const { text } = this
    const brackets: number[] = [] // tokens that may open a link
    let start = from
    const push = (token: Token) => {
      if (token.from > start) tokens.push({ from: start, to: token.from })
      tokens.push(token)
      start = token.to
    }
    const unclosed = [false, false, false] // whether no code span of so many back quotes ends any more
    for (let i = from; i < to;) {
      const c = text[i]!
      if (c === "\\" && punctuation.test(text[i + 1] ?? "") && i + 1 < to) {
        push({ from: i, to: i + 1, silent: true })
        i += 2
      } else if (c === "`") {
        const n = this.run(i, to)
        const end = n > 2 || unclosed[n] ? -1 : this.closing(i + n, to, n)
        if (end < 0 && n <= 2) unclosed[n] = true
        if (end >= 0) push({ from: i, to: end + n, code: n })
        i = end < 0 ? i + n : end + n
      } else if (c === "*" || c === "_" || c === "~") {
        const n = this.run(i, to)
        const [before, after] = [i > from ? text[i - 1]! : " ", i + n < to ? text[i + n]! : " "]
        const inside = c === "_" && letter.test(before) && letter.test(after)
        if (c === "~" ? n === 2 : n <= 3)
          push({
            from: i,
            to: i + n,
            mark: c.repeat(n),
            opens: !isSpace(after) && !inside,
            closes: !isSpace(before) && !inside,
          })
        i += n
      } else if (c === "[" || (c === "!" && text[i + 1] === "[" && i + 1 < to)) {
        const end = c === "[" ? i + 1 : i + 2
        push({ from: i, to: end })
        brackets.push(tokens.length - 1)
        i = end
      } else if (c === "]") {
        const open = brackets.pop()
        const target = open === undefined ? null : this.target(i + 1, to)
        if (target) {
          push({ from: i, to: target.end, closes: true })
          tokens[open!]!.link = target.url
          tokens[open!]!.end = tokens.length - 1
          brackets.length = 0 // a link has no link around it
        }
        i = target ? target.end : i + 1
      } else if (c === "h" && (text.startsWith("https://", i) || text.startsWith("http://", i))) {
        let [end, inner] = [i, false]
        for (; end < to && inAddress.test(text[end]!); end++) inner ||= text[end] === "("
        while ((inner ? ".,:;!?'*_" : ".,:;!?'*_)").includes(text[end - 1]!)) end--
        if (hostOf(text.slice(i, end))) push({ from: i, to: end, link: text.slice(i, end) })
        i = Math.max(end, i + 1)
      } else i++
    }
    if (start < to) tokens.push({ from: start, to })
  }

  private run(at: number, to: number): number {
    let end = at + 1
    while (end < to && this.text[end] === this.text[at]) end++
    return end - at
  }

  // closing finds the run of n back quotes that ends a code span; -1: none.
  private closing(at: number, to: number, n: number): number {
    for (let found = this.text.indexOf("`", at); found >= 0 && found < to; found = this.text.indexOf("`", found)) {
      const length = this.run(found, to)
      if (length === n) return found
      found += length
    }
    return -1
  }

  // target reads the parenthesis after a label: an address of the web without spaces, then perhaps a title, which is
  // not shown. All else stays text.
  private target(at: number, to: number): { url: string; end: number } | null {
    const { text } = this
    if (text[at] !== "(" || at >= to) return null
    let depth = 1
    let url = -1 // its end
    for (let i = at + 1; i < to; i++) {
      const c = text[i]!
      if (c === "]") return null // so that no part is read twice
      if (isSpace(c) && url < 0) url = i
      if (c === "(" && url < 0) depth++
      if (c === ")" && --depth === 0) {
        const address = text.slice(at + 1, url < 0 ? i : url).replace(/^<|>$/g, "")
        return hostOf(address) ? { url: address, end: i + 1 } : null
      }
      if (c === ")" && url >= 0) depth++ // in a title
    }
    return null
  }

  // build makes nodes of paired tokens.
  private build(tokens: Token[]): ComponentChild[] {
    const open: { nodes: ComponentChild[]; token?: Token }[] = [{ nodes: [] }]
    let [from, to] = [0, 0] // of text that is not among the nodes yet
    const last = () => {
      const { nodes } = open[open.length - 1]!
      for (const part of this.marker.part(from, to)) nodes.push(part)
      from = to
      return open[open.length - 1]!
    }
    const text = (t: Token) => {
      if (t.from !== to) {
        last()
        from = t.from
      }
      to = t.to
    }
    for (let i = 0; i < tokens.length; i++) {
      const t = tokens[i]!
      const own = open[open.length - 1]!.token
      if (t.silent) continue
      if (t.code) last().nodes.push(<code>{this.marker.part(t.from + t.code, t.to - t.code)}</code>)
      else if (t.link !== undefined && t.end !== undefined) {
        const number = this.numberOf(t.link)
        const close = tokens[t.end]!
        const { nodes } = last()
        if (number && numbering.test(this.text.slice(t.to, close.from)) && !this.marker.mentioned(t.to, close.from)) {
          if (this.text[t.from - 1] === "(" && this.text[close.to] === ")") this.bare(nodes, tokens[t.end + 1])
          nodes.push(this.place(number))
          i = t.end
        } else open.push({ nodes: [], token: t })
      } else if (t.link !== undefined) last().nodes.push(...this.link(t.link, [t.link]))
      else if (t.end !== undefined) {
        if (open.length <= deepest) (last(), open.push({ nodes: [], token: t }))
        else text(t)
      } else if (own?.end === i) {
        const { nodes } = last()
        open.pop()
        if (own.link !== undefined) last().nodes.push(...this.link(own.link, nodes))
        else last().nodes.push(emphasis(own.mark!, nodes))
      } else text(t)
    }
    return last().nodes
  }

  // bare takes away the parentheses around a number: at the end of what is before, and at the start of what follows.
  private bare(nodes: ComponentChild[], next: Token | undefined): void {
    const before = nodes[nodes.length - 1]
    if (typeof before !== "string" || !before.endsWith("(") || !next || next.code || next.mark) return
    nodes[nodes.length - 1] = before.slice(0, -1).trimEnd()
    next.from++
  }

  private link(url: string, label: ComponentChild[]): ComponentChild[] {
    const number = this.numberOf(url)
    const bare = label.length === 0 || label[0] === url
    return [
      <Outside url={url} text={bare ? url : label} />,
      !bare && hostOf(url) !== location.host && <small class="host"> ({hostOf(url)})</small>,
      number ? this.place(number) : null,
    ]
  }

  private numberOf(url: string): number | undefined {
    return this.numbers.size > 0 ? this.numbers.get(pageOf(url)) : undefined
  }

  // place is the number of a citation, where the text refers to it.
  private place(number: number): ComponentChild {
    const id = this.places.has(number) ? undefined : `place-${number}`
    this.places.add(number)
    return (
      <sup>
        <a href={`#citation-${number}`} id={id} aria-label={`Citation ${number}`}>
          {number}
        </a>
      </sup>
    )
  }
}

const punctuation = /[!-/:-@[-`{-~]/
const letter = /[\p{L}\p{N}]/u
const numbering = /^(?:\p{L}{1,12} )?\d{1,3}$/u // a label that only counts, such as Sources 1
const inAddress = /[\w.~:/?#@!$&'()*+,;=%-]/

export const isSpace = (c: string) => c === " " || c === "\t" || c === "\r" || c === "\n"

// A Token is a part of a line. One with an end opens an element that the token of that index closes.
interface Token {
  from: number
  to: number
  silent?: boolean // a backslash before punctuation
  code?: number // back quotes around a code span
  mark?: string // of emphasis
  opens?: boolean
  closes?: boolean
  link?: string // an address; without an end it is its own label
  end?: number
}

// pair finds for marks that close the nearest equal ones that open, within a link or outside of all.
function pair(tokens: Token[]): void {
  let outside: Map<string, number[]> | undefined
  let stacks = new Map<string, number[]>()
  let label = -1 // the end of the link that is read
  const close = (i: number, mark: string): boolean => {
    const start = stacks.get(mark)?.pop()
    if (start === undefined) return false
    for (const stack of stacks.values()) while (stack.length > 0 && stack[stack.length - 1]! > start) stack.pop()
    tokens[start]!.end = i
    return true
  }
  tokens.forEach((t, i) => {
    if (i === label && outside) [stacks, outside] = [outside, undefined]
    if (t.link !== undefined && t.end !== undefined) [outside, stacks, label] = [stacks, new Map(), t.end]
    if (!t.mark || (t.closes && close(i, t.mark)) || !t.opens) return
    if (!stacks.has(t.mark)) stacks.set(t.mark, [])
    stacks.get(t.mark)!.push(i)
  })
}

function emphasis(mark: string, nodes: ComponentChild[]): ComponentChild {
  if (mark === "~~") return <del>{nodes}</del>
  if (mark.length === 1) return <em>{nodes}</em>
  return <strong>{mark.length === 3 ? <em>{nodes}</em> : nodes}</strong>
}

// clicks are the parameters that only follow a click, as pipeline/extract/url.go has them.
const clicks =
  /^(utm_.*|[gd]clid|gclsrc|[gw]braid|(fb|y|tw|tt)clid|msclkid|li_fat_id|igshid|mc_[ce]id|srsltid|_ga|_gl)$/i

// pageOf returns an address as citations are counted, so that the same page has one number.
function pageOf(url: string): string {
  try {
    const { host, pathname, search } = new URL(url)
    const parameters = search
      .slice(1)
      .split("&")
      .filter((pair) => pair && !clicks.test(pair.split("=")[0]!))
    return host.replace(/^www\./, "") + pathname.replace(/\/+$/, "") + "?" + parameters.join("&")
  } catch {
    return url
  }
}
