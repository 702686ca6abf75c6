// Drives /auth/v1 with @supabase/auth-js as an application does. Arguments: the address of the service, an email and its
// password. It exits with status 0 if everything was as its documentation says.
import assert from 'node:assert/strict'
import auth from '@supabase/auth-js'

const [base, email, password] = process.argv.slice(2)

function client() {
  const kept = new Map()
  const storage = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  }
  const options = { url: base + '/auth/v1', headers: { apikey: 'anon', Authorization: 'Bearer anon' }, storage, storageKey: 'session', autoRefreshToken: false }
  const made = new auth.AuthClient(options)
  // What the clock does in an hour: the access token is about to expire.
  made.age = () => {
    const session = JSON.parse(kept.get('session'))
    session.expires_at = Math.floor(Date.now() / 1000) + 5
    kept.set('session', JSON.stringify(session))
  }
  return made
}

function right({ data, error }) {
  assert.equal(error, null)
  return data
}

async function signIn(with_ = client()) {
  const { session, user } = right(await with_.signInWithPassword({ email, password }))
  assert.equal(session.user.id, user.id)
  assert.equal(session.token_type, 'bearer')
  return { client: with_, session, user }
}

async function opens(session) {
  const { data, error } = await client().getUser(session.access_token)
  if (error) {
    assert.equal(error.name, 'AuthSessionMissingError')
    return false
  }
  return data.user.email === email
}

// Wrong credentials are an error with its code, and not asked again.
const wrong = await client().signInWithPassword({ email, password: 'wrong' })
assert.equal(wrong.error.code, 'invalid_credentials')
assert.equal(wrong.error.status, 400)
assert.equal(wrong.error.name, 'AuthApiError')

// Sign-in, and who that is: by the service, and by the public keys alone.
const ann = await signIn()
assert.equal(right(await ann.client.getUser()).user.id, ann.user.id)
const { claims, header } = right(await ann.client.getClaims())
assert.equal(claims.sub, ann.user.id)
assert.equal(claims.app_metadata.organization_id, ann.user.app_metadata.organization_id)
assert.equal(header.alg, 'ES256')

// A session that is about to expire is refreshed by itself, when it is asked for and in the background.
ann.client.age()
const refreshed = right(await ann.client.getSession()).session
assert.notEqual(refreshed.refresh_token, ann.session.refresh_token)
assert(refreshed.expires_at > Date.now() / 1000 + 3500)
ann.client.age()
const inBackground = new Promise((resolve) => ann.client.onAuthStateChange((event, session) => event === 'TOKEN_REFRESHED' && resolve(session)))
await ann.client.startAutoRefresh()
const again = await inBackground
await ann.client.stopAutoRefresh()
assert.notEqual(again.refresh_token, refreshed.refresh_token)
assert(await opens(again))

// A refresh token that is used again ends the session of both who had it.
const thief = await client().refreshSession({ refresh_token: refreshed.refresh_token })
assert.equal(thief.error.code, 'refresh_token_already_used')
assert(!(await opens(again)))
const victim = await ann.client.refreshSession()
assert.equal(victim.error.code, 'refresh_token_not_found')
assert.equal((await ann.client.getUser()).error.name, 'AuthSessionMissingError')
assert.equal(right(await ann.client.getSession()).session, null)

// Sign-out ends the other sessions, this one, or all.
const [one, two] = [await signIn(), await signIn()]
assert.equal((await one.client.signOut({ scope: 'others' })).error, null)
assert.deepEqual([await opens(one.session), await opens(two.session)], [true, false])
assert.notEqual(right(await one.client.getSession()).session, null)
const three = await signIn(two.client)
assert.equal((await three.client.signOut({ scope: 'local' })).error, null)
assert.deepEqual([await opens(one.session), await opens(three.session)], [true, false])
const four = await signIn(two.client)
assert.equal((await one.client.signOut()).error, null)
assert.deepEqual([await opens(one.session), await opens(four.session)], [false, false])

// What is not offered is said to be missing.
assert.equal((await client().signUp({ email: 'new@example.com', password })).error.status, 404)

// Who shows the current password changes it; the session goes on.
const five = await signIn()
assert.equal((await five.client.updateUser({ password: 'x' })).error.code, 'current_password_required')
assert.equal((await five.client.updateUser({ password: 'x', current_password: password })).error.code, 'weak_password')
const next = 'opal-ferry-drum-47'
assert.equal(right(await five.client.updateUser({ password: next, current_password: password })).user.id, five.user.id)
assert(await opens(five.session))
right(await client().signInWithPassword({ email, password: next }))
console.log('done')
