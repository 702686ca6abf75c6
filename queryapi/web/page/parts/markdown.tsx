// Answers are Markdown of unknown authors, shown without any HTML of theirs: this parser makes nodes itself, of few
// elements, and what it does not know stays text. It keeps the place of each part in the source, for the mentions. It
// takes time linear in the text, for any text.
import type { ComponentChild, VNode } from "preact"
import type { Answer, Mention } from "../bodies.ts"
import { deepest, Inline, isSpace, type Line } from "./inline.tsx"
import { Marker } from "./marked.tsx"

export const longest = 1 << 16 // UTF-16 units that are parsed; the rest is shown as it was received

type Block = VNode<{ children?: ComponentChild; class?: string }>

export interface Rendered {
  nodes: ComponentChild[]
  places: Set<number> // numbers of the citations that the text refers to, each at the element place-{number}
}

// renderMarkdown makes nodes of a text. A link to the page of a citation has its number, which leads to the element
// citation-{number}.
export function renderMarkdown(text: string, mentions: Mention[], citations: Answer["citations"]): Rendered {
  const marker = new Marker(text, mentions)
  const inline = new Inline(text, marker, citations)
  return { nodes: new Blocks(text, marker, inline).all(), places: inline.places }
}

// Markdown is a text without mentions.
export function Markdown({ text }: { text: string }) {
  return <div class="inside text markdown">{renderMarkdown(text, [], []).nodes}</div>
}

class Blocks {
  private tables = 0

  constructor(
    private text: string,
    private marker: Marker,
    private inline: Inline,
  ) {}

  all(): ComponentChild[] {
    const end = this.text.length > longest ? this.text.lastIndexOf("\n", longest) + 1 || longest : this.text.length
    const lines: Line[] = []
    for (let from = 0; from < end;) {
      const found = this.text.indexOf("\n", from)
      const to = found < 0 || found > end ? end : found
      lines.push({ from, to })
      from = to + 1
    }
    const nodes = this.blocks(lines, 0)
    if (end < this.text.length) nodes.push(<p class="raw">{this.marker.part(end, this.text.length)}</p>)
    return nodes
  }

  // mayBegin says whether a line may begin a block other than a paragraph.
  private mayBegin({ from, to }: Line): boolean {
    const at = this.skip(from, to)
    return at < to && beginnings.includes(this.text[at]!)
  }

  // match matches a sticky expression at a line's beginning.
  private match(expression: RegExp, line: Line): RegExpExecArray | null {
    expression.lastIndex = line.from
    const match = expression.exec(this.text)
    return match && expression.lastIndex <= line.to ? match : null
  }

  private isBlank(line: Line): boolean {
    return this.skip(line.from, line.to) === line.to
  }

  private blocks(lines: Line[], depth: number): Block[] {
    const nodes: Block[] = []
    for (let i = 0; i < lines.length;) {
      const line = lines[i]!
      const next = lines[i + 1]
      if (this.isBlank(line)) i++
      else if (next && this.isTable(line, next)) i = this.table(lines, i, nodes)
      else if (!this.mayBegin(line)) i = this.paragraph(lines, i, depth, nodes)
      else if (this.match(fence, line)) i = this.code(lines, i, nodes)
      else if (this.isRule(line)) {
        nodes.push(<hr />)
        i++
      } else if (this.match(heading, line)) {
        const from = line.from + this.match(heading, line)![0].length
        nodes.push(<p class="heading">{this.inline.nodes([{ from, to: line.to }])}</p>)
        i++
      } else if (depth < deepest && this.match(quote, line)) i = this.quoted(lines, i, depth, nodes)
      else if (depth < deepest && this.match(bullet, line)) i = this.list(lines, i, depth, nodes)
      else i = this.paragraph(lines, i, depth, nodes)
    }
    return nodes
  }

  private begins(line: Line, depth: number): boolean {
    return (
      this.mayBegin(line) &&
      !!(
        this.match(fence, line) ||
        this.match(heading, line) ||
        this.isRule(line) ||
        (depth < deepest && (this.match(quote, line) || this.match(bullet, line)))
      )
    )
  }

  private paragraph(lines: Line[], i: number, depth: number, nodes: Block[]): number {
    const first = i++
    while (i < lines.length && !this.isBlank(lines[i]!) && !this.begins(lines[i]!, depth)) i++
    nodes.push(<p>{this.inline.nodes(lines.slice(first, i))}</p>)
    return i
  }

  private code(lines: Line[], i: number, nodes: Block[]): number {
    const mark = this.match(fence, lines[i]!)![1]!
    const parts: ComponentChild[] = []
    for (i++; i < lines.length; i++) {
      const close = this.match(fence, lines[i]!)
      if (close?.[1]!.startsWith(mark) && close[0].trim() === close[1]) break
      parts.push(...this.marker.part(lines[i]!.from, lines[i]!.to), "\n")
    }
    nodes.push(
      <pre>
        <code>{parts}</code>
      </pre>,
    )
    return i + 1
  }

  private isRule({ from, to }: Line): boolean {
    const mark = this.text[this.skip(from, to)]
    if (mark !== "-" && mark !== "*" && mark !== "_") return false
    let marks = 0
    for (let i = from; i < to; i++) {
      if (this.text[i] === mark) marks++
      else if (!isSpace(this.text[i]!)) return false
    }
    return marks >= 3
  }

  private skip(from: number, to: number): number {
    while (from < to && isSpace(this.text[from]!)) from++
    return from
  }

  private quoted(lines: Line[], i: number, depth: number, nodes: Block[]): number {
    const inside: Line[] = []
    for (; i < lines.length && this.match(quote, lines[i]!); i++) {
      inside.push({ from: lines[i]!.from + this.match(quote, lines[i]!)![0].length, to: lines[i]!.to })
    }
    nodes.push(<blockquote>{this.blocks(inside, depth + 1)}</blockquote>)
    return i
  }

  // list reads items until a line that neither is an item nor belongs to one: what follows an item belongs to it where
  // it is indented, or goes on with its last line.
  private list(lines: Line[], i: number, depth: number, nodes: Block[]): number {
    const [, space, number] = this.match(bullet, lines[i]!)!
    const items: ComponentChild[] = []
    while (i < lines.length) {
      const mark = this.match(bullet, lines[i]!)
      if (!mark || mark[1]!.length > space!.length + 1 || !mark[2] !== !number || this.isRule(lines[i]!)) break
      const inside = [{ from: lines[i]!.from + mark[0].length, to: lines[i]!.to }]
      let after = false // an empty line
      for (i++; i < lines.length; i++) {
        const line = lines[i]!
        if (this.isBlank(line)) {
          after = true
          inside.push(line)
          continue
        }
        const indent = this.skip(line.from, line.to) - line.from
        if (indent < space!.length + 2 && (after || this.begins(line, depth))) break
        inside.push({ from: line.from + Math.min(indent, mark[0].length), to: line.to })
        after = false
      }
      const [first, ...others] = this.blocks(inside, depth + 1)
      const bare = first?.type === "p" && !first.props.class ? first.props.children : first
      items.push(
        <li>
          {bare}
          {others}
        </li>,
      )
    }
    nodes.push(number ? <ol start={Number(number)}>{items}</ol> : <ul>{items}</ul>)
    return i
  }

  private isTable(head: Line, rule: Line): boolean {
    let [bars, dashes] = [0, 0]
    for (let i = rule.from; i < rule.to; i++) {
      const c = this.text[i]!
      if (c === "|") bars++
      else if (c === "-") dashes++
      else if (c !== ":" && !isSpace(c)) return false
    }
    return bars > 0 && dashes > 0 && this.text.slice(head.from, head.to).includes("|")
  }

  private table(lines: Line[], i: number, nodes: Block[]): number {
    const name = `Table ${++this.tables} of the answer`
    const head = this.cells(lines[i]!).map((cell) =>
      cell.from < cell.to ? <th scope="col">{this.inline.nodes([cell])}</th> : <td />,
    )
    const rows: ComponentChild[] = []
    for (
      i += 2;
      i < lines.length && !this.isBlank(lines[i]!) && this.text.slice(lines[i]!.from, lines[i]!.to).includes("|");
      i++
    ) {
      rows.push(
        <tr>
          {this.cells(lines[i]!).map((cell) => (
            <td>{this.inline.nodes([cell])}</td>
          ))}
        </tr>,
      )
    }
    nodes.push(
      <div class="scroll" tabIndex={0} role="region" aria-label={name}>
        <table>
          <thead>
            <tr>{head}</tr>
          </thead>
          <tbody>{rows}</tbody>
        </table>
      </div>,
    )
    return i
  }

  private cells({ from, to }: Line): Line[] {
    from = this.skip(from, to)
    while (to > from && isSpace(this.text[to - 1]!)) to--
    if (this.text[from] === "|") from++
    if (to > from && this.text[to - 1] === "|") to--
    const cells: Line[] = []
    for (let i = from; i <= to; i++) {
      if (i < to && (this.text[i] !== "|" || this.text[i - 1] === "\\")) continue
      const start = this.skip(from, i)
      let end = i
      while (end > start && isSpace(this.text[end - 1]!)) end--
      cells.push({ from: start, to: end })
      from = i + 1
    }
    return cells
  }
}

const beginnings = "#>-*+•–_~`0123456789"
const fence = /[ \t]*(`{3,}(?=[^`\n]*(?:\n|$))|~{3,})[^\n]*/y
const heading = / {0,3}#{1,6}[ \t]+/y
const quote = / {0,3}> ?/y
const bullet = /([ \t]*)(?:[-*+•–]|(\d{1,9})[.)])[ \t]+/y
