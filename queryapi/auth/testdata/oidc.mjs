// Runs oidc-provider, a certified OpenID provider, for one client, whose redirect URI is the argument. It prints its
// address. Who signs in as NAME has the address NAME@example.com, verified unless NAME begins with "un". POST /rotate
// replaces its signing key.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'

const [redirect] = process.argv.slice(2)
let handle
const server = createServer((request, response) => {
  if (request.url === '/rotate') {
    rotate()
    return response.end()
  }
  handle(request, response)
})
server.listen(0, '127.0.0.1', () => {
  rotate()
  console.log(issuer())
})

const issuer = () => 'http://127.0.0.1:' + server.address().port

function rotate() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  handle = new Provider(issuer(), {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' }] },
    clients: [{ client_id: 'answerscope', client_secret: 'secret of answerscope', redirect_uris: [redirect] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['cookies'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: id, email: id + '@example.com', email_verified: !id.startsWith('un') }),
    }),
  }).callback()
}
