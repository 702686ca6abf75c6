// Reads mails with mailparser, as a receiver does. Its input is a JSON list of mails in base64, its output a list of what
// it read.
import { simpleParser } from 'mailparser'
import { text } from 'node:stream/consumers'

const read = []
for (const raw of JSON.parse(await text(process.stdin))) {
  const mail = await simpleParser(Buffer.from(raw, 'base64'), { skipTextToHtml: true, skipHtmlToText: true })
  const headers = Object.fromEntries(mail.headerLines.map(({ key, line }) => [key, line.slice(key.length + 1).replace(/\r?\n[ \t]+/g, ' ').trim()]))
  headers['content-type'] = mail.headers.get('content-type').value
  read.push({ subject: mail.subject, from: mail.from.text, to: mail.to.text, id: mail.messageId, text: mail.text, html: mail.html, attachments: mail.attachments.length, headers })
}
console.log(JSON.stringify(read))
