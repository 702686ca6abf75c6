// Drives /auth/v1 and /rest/v1 with @supabase/supabase-js as an application does. Arguments: the address of the service,
// the anon key, the password of all users, an API key of ann's, and the id of a brand of hers that has an answer. It exits
// with status 0 if everything was as it must be.
import assert from 'node:assert/strict'
import { createClient } from '@supabase/supabase-js'

const [base, anon, password, key, answered] = process.argv.slice(2)
const options = { auth: { persistSession: false, autoRefreshToken: false }, realtime: { transport: class {} } }

async function signedIn(email) {
  const made = createClient(base, anon, options)
  const { error } = await made.auth.signInWithPassword({ email, password })
  assert.equal(error, null)
  return made
}

function right({ data, error }) {
  assert.equal(error, null)
  return data
}

function refused(answer, status, code) {
  assert.deepEqual([answer.status, answer.error?.code], [status, code])
}

const mine = await signedIn('ann@acme.example')
const organization = right(await mine.from('organizations').select('id').single()).id

// A deleted brand is gone with all that is its own: here, at /api/v1, and in the warehouse, where the caller looks.
async function metrics(path) {
  const answer = await fetch(base + '/api/v1/' + path, { headers: { Authorization: 'Bearer ' + key } })
  return [answer.status, await answer.json()]
}
let results
while ((results = right(await mine.rpc('get_latest_prompt_results', { p_brand_id: answered }))).length === 0) {
  await new Promise((resolve) => setTimeout(resolve, 50))
}
assert.deepEqual([results.length, results[0].brand_id, results[0].platform, results[0].response], [1, answered, 'chatgpt', 'Acme makes the best anvil.'])
assert.equal((await metrics('visibility-summary?brand_id=' + answered))[0], 200)
right(await mine.from('brands').delete().eq('id', answered))
for (const table of ['brand_domains', 'competitors', 'prompt_sets', 'prompts', 'prompt_results']) {
  assert.deepEqual(right(await mine.from(table).select('id')), [], table)
}
assert.equal((await metrics('visibility-summary?brand_id=' + answered))[0], 404)
assert.deepEqual(await metrics('brands'), [200, { brands: [] }])

// The interface, from a brand to its end.
const brand = right(await mine.from('brands').insert({ organization_id: organization, name: 'Lumen', slug: 'lumen', industry: 'lighting', region: 'us', language: 'en' }).select().single())
right(await mine.from('brand_domains').insert({ brand_id: brand.id, domain: 'https://www.Lumen.example/' }))
right(await mine.from('brand_domains').insert([{ brand_id: brand.id, domain: 'münchen.example' }]))
right(await mine.from('competitors').insert([{ brand_id: brand.id, name: 'Raye', domain: 'raye.example' }, { brand_id: brand.id, name: 'Nova', domain: null }]))
const set = right(await mine.from('prompt_sets').insert({ brand_id: brand.id, name: 'Lamps' }).select().single())
right(await mine.from('prompts').insert([{ prompt_set_id: set.id, text: 'which lamp?' }, { prompt_set_id: set.id, text: 'best, "brightest" lamp?' }]))

const nested = right(await mine.from('brands').select('*,brand_domains(*),competitors(*),prompt_sets(name,prompts(text))').eq('id', brand.id).single())
assert.deepEqual(nested.brand_domains.map((d) => d.domain).sort(), ['lumen.example', 'xn--mnchen-3ya.example'])
assert.deepEqual(nested.competitors.map((c) => c.name).sort(), ['Nova', 'Raye'])
assert.deepEqual(nested.prompt_sets.map((s) => s.prompts.length), [2])
assert.equal(right(await mine.from('brands').update({ name: 'Lumen AG' }).eq('id', brand.id).select('name').single()).name, 'Lumen AG')
assert.deepEqual(right(await mine.rpc('get_latest_prompt_results', { p_brand_id: brand.id })), [])
const upserted = await mine.from('competitors').upsert([{ brand_id: brand.id, name: 'Raye', aliases: ['Raye Inc'] }], { onConflict: 'brand_id,name' }).select('name,aliases')
assert.deepEqual([upserted.status, upserted.data], [200, [{ name: 'Raye', aliases: ['Raye Inc'] }]])
assert.equal((await mine.from('prompts').select('*', { count: 'exact', head: true }).eq('brand_id', brand.id)).count, 2)
const range = await mine.from('prompts').select('text', { count: 'exact' }).eq('brand_id', brand.id).order('text').range(0, 0)
assert.deepEqual([range.status, range.count, range.data], [206, 2, [{ text: 'best, "brightest" lamp?' }]])
refused(await mine.from('brands').select().eq('id', organization).single(), 406, 'PGRST116')
assert.equal(right(await mine.from('brands').select('id').eq('id', organization).maybeSingle()), null)
refused(await mine.from('brand_domains').insert({ brand_id: brand.id, domain: 'no host' }), 400, '23514')
refused(await mine.from('organizations').update({ slug: 'taken' }).eq('id', organization), 403, '42501')

// A viewer reads, and writes nothing.
const reads = await signedIn('vic@acme.example')
assert.equal(right(await reads.from('brands').select('id')).length, 1)
refused(await reads.from('brands').insert({ organization_id: organization, name: 'X' }), 403, '42501')
assert.deepEqual(right(await reads.from('brands').update({ name: 'X' }).eq('id', brand.id).select()), [])

// Neither a viewer nor a member writes others' members, or sees others' keys and the audit log.
const id = async (user) => (await user.auth.getUser()).data.user.id
for (const user of [reads, mine]) {
  assert.equal(right(await user.from('members').select('id')).length, 4)
  assert.deepEqual(right(await user.from('members').update({ role: 'owner' }).eq('organization_id', organization).select()), [])
  assert.deepEqual(right(await user.from('members').delete().neq('user_id', await id(user)).select()), [])
  assert.deepEqual(right(await user.from('organizations').update({ name: 'X' }).eq('id', organization).select()), [])
  assert.deepEqual(right(await user.from('audit_log').select('id')), [])
}
assert.equal(right(await reads.from('api_keys').select('*')).length, 0)
assert.equal(right(await mine.from('api_keys').select('*')).length, 1)

// An admin does, but for owners; an owner for all, as long as one stays.
const admin = await signedIn('ada@acme.example')
const owner = await signedIn('oto@acme.example')
for (const user of [admin, owner]) {
  assert.equal(right(await user.from('api_keys').select('*')).length, 1)
  assert.ok(right(await user.from('audit_log').select('action')).some((line) => line.action === 'brand deleted'))
  refused(await user.from('audit_log').delete().eq('organization_id', organization), 403, '42501')
  refused(await user.from('api_keys').update({ revoked_at: null }).eq('organization_id', organization), 403, '42501')
  assert.equal(right(await user.from('organizations').update({ time_zone: 'Europe/Vienna' }).eq('id', organization).select('time_zone').single()).time_zone, 'Europe/Vienna')
  for (const role of ['admin', 'viewer']) {
    assert.equal(right(await user.from('members').update({ role }).eq('user_id', await id(reads)).select('role').single()).role, role)
  }
}
refused(await admin.from('members').update({ role: 'owner' }).eq('user_id', await id(admin)), 403, '42501')
assert.deepEqual(right(await admin.from('members').update({ role: 'viewer' }).eq('user_id', await id(owner)).select()), [])
assert.deepEqual(right(await admin.from('members').delete().eq('user_id', await id(owner)).select()), [])
refused(await owner.from('members').update({ role: 'admin' }).eq('user_id', await id(owner)), 400, '23514')
refused(await owner.from('members').delete().eq('user_id', await id(owner)), 400, '23514')
right(await owner.from('members').update({ role: 'owner' }).eq('user_id', await id(admin)))
right(await owner.from('members').update({ role: 'admin' }).eq('user_id', await id(owner)))

// Who is removed is out at once.
right(await admin.from('members').delete().eq('user_id', await id(reads)))
refused(await reads.from('brands').select('id'), 401, 'PGRST301')

// Another organization sees nothing of this one, names none of its rows, and moves none to itself.
const other = await signedIn('eve@other.example')
const home = right(await other.from('organizations').select('id').single()).id
assert.notEqual(home, organization)
const lured = right(await other.from('brands').insert({ organization_id: home, name: 'Raye' }).select().single())
for (const table of ['brands', 'brand_domains', 'competitors', 'prompt_sets', 'prompts', 'members', 'api_keys', 'audit_log']) {
  assert.deepEqual(right(await other.from(table).select('*').eq('organization_id', organization)), [], table)
}
assert.deepEqual(right(await other.from('brands').select('*,competitors(*)').eq('id', brand.id)), [])
assert.deepEqual(right(await other.rpc('get_latest_prompt_results', { p_brand_id: brand.id })), [])
refused(await other.from('brands').insert({ organization_id: organization, name: 'X' }), 403, '42501')
refused(await other.from('competitors').insert({ brand_id: brand.id, name: 'X' }), 403, '42501')
refused(await other.from('competitors').upsert([{ brand_id: brand.id, name: 'Raye', aliases: ['X'] }], { onConflict: 'brand_id,name' }), 403, '42501')
refused(await other.from('prompts').insert({ prompt_set_id: set.id, text: 'X' }), 403, '42501')
refused(await other.from('brands').update({ organization_id: organization }).eq('id', lured.id), 403, '42501')
refused(await other.from('prompt_sets').insert({ id: set.id, brand_id: lured.id, name: 'X' }), 409, '23505')
assert.deepEqual(right(await other.from('brands').update({ name: 'X' }).eq('id', brand.id).select()), [])
assert.deepEqual(right(await other.from('brands').delete().eq('id', brand.id).select()), [])

// Who is not signed in is anonymous, who is not known is refused.
refused(await createClient(base, anon, options).from('brands').select(), 401, '42501')
const keyless = await fetch(base + '/rest/v1/brands')
assert.deepEqual([keyless.status, await keyless.json()], [401, { message: 'No API key found in request', hint: 'No `apikey` request header or url param was found.' }])
const wrong = await fetch(base + '/rest/v1/brands', { headers: { apikey: 'x' } })
assert.deepEqual([wrong.status, await wrong.json()], [401, { message: 'Invalid API key' }])
const forged = await fetch(base + '/rest/v1/brands', { headers: { apikey: anon, Authorization: 'Bearer x.y.z' } })
assert.deepEqual([forged.status, (await forged.json()).code], [401, 'PGRST301'])

right(await mine.from('brands').delete().eq('id', brand.id))
assert.equal((await mine.from('prompts').select('*', { count: 'exact', head: true })).count, 0)
const token = (await mine.auth.getSession()).data.session.access_token
right(await mine.auth.signOut())
const ended = await fetch(base + '/rest/v1/brands', { headers: { apikey: anon, Authorization: 'Bearer ' + token } })
assert.equal(ended.status, 401)
console.log('done')
