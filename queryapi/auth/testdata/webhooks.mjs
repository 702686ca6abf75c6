// Verifies webhooks with standardwebhooks as a receiver does. Stdin has a case a line, with the secret, the headers, the
// body and whether it is to hold. It exits with status 0 if all are as they should be.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'

const cases = readFileSync(0, 'utf8').trim().split('\n').map((line) => JSON.parse(line))
for (const { name, secret, headers, body, holds } of cases) {
  let event = null
  try {
    event = new Webhook(secret).verify(body, headers)
  } catch (error) {
    assert.equal(holds, false, `${name}: ${error}`)
    continue
  }
  assert.equal(holds, true, name)
  assert.deepEqual(event, JSON.parse(body), name)
}
console.log(`${cases.length} as they should be`)
