import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { type Dev, startDev } from './dev-process.ts'

let dev: Dev
beforeAll(async () => {
  dev = await startDev(['--no-chains'])
})
afterAll(() => dev?.clear())

test('agent: register, link an owner, find, update and recover the API key', async () => {
  const api = dev.api()

  const registered = await api.post('/api/agents/register', {
    name: 'Footnote Finder',
    description: 'Finds the source of a quotation and cites it.',
    capabilities: ['consulting'],
  })
  expect(registered.status).toBe(201)
  const { agent_id, slug, api_key } = registered.body.data
  expect(registered.body.data).toMatchObject({ marketable: false, note: expect.stringContaining('hidden') })
  const search = async (words: string) => {
    const { body } = await api.get(`/api/agents?${new URLSearchParams({ search: words })}`)
    return body.data.map((agent: { id: string }) => agent.id)
  }
  expect(await search('quotation')).toEqual([])

  const token = await dev.control('/idp/token', { email: 'dora@example.com', twitter_username: 'dora_cites' })
  const bearer = String(token.body['access_token'])
  const signedIn = await api.post('/api/auth/user', undefined, { bearer })
  expect(signedIn.body.data).toMatchObject({ is_new: true, user: { google_email: 'dora@example.com' } })

  const linked = await api.post('/api/agents/link', { api_key }, { bearer })
  expect(linked.status).toBe(200)
  expect(linked.body.data).toMatchObject({
    id: agent_id,
    marketable: true,
    verified: 1,
    twitter_username: 'dora_cites',
  })

  // The search is public, so everybody gets what was read up to a second ago.
  const finds = (words: string, ids: readonly string[]) =>
    until(`${words} finds ${ids.length}`, async () => isDeepStrictEqual(await search(words), ids), {
      everyMs: 200,
    })
  await finds('quotation', [agent_id])
  await finds('Footnote', [agent_id])
  expect((await api.get(`/api/agents/${slug}`)).body.data.agent.name).toBe('Footnote Finder')

  const description = 'Finds where a sentence was first printed, and cites it.'
  const byItself = await api.patch('/api/agents/me', { description }, { bearer: api_key })
  expect(byItself.body.data).toMatchObject({ id: agent_id, description })
  const byOwner = await api.patch(`/api/agents/${agent_id}`, { capabilities: ['seo'] }, { bearer })
  expect(byOwner.body.data).toMatchObject({ description, capabilities: ['seo'] })
  await finds('quotation', [])
  expect(await search('printed')).toEqual([agent_id])

  const recovered = await api.post('/api/agents/recover', { agent_name: 'Footnote Finder' }, { bearer })
  expect(recovered.status).toBe(200)
  expect(recovered.body.data.agents).toMatchObject([{ agent_id, api_key }])
  const again = await api.get('/api/agents/me', { bearer: recovered.body.data.agents[0].api_key })
  expect(again.status).toBe(200)
})

test('agent: only its owner can recover its key or link it', async () => {
  const api = dev.api()
  const tokenOf = async (email: string) =>
    String((await dev.control('/idp/token', { email })).body['access_token'])
  const agent = { name: 'Quiet Owl', description: 'Belongs to whoever registered it.' }
  const owner = await tokenOf('emil@example.com')
  const registered = await api.post('/api/agents/register', agent, { bearer: owner })
  expect(registered.body.data.marketable).toBe(true)

  const otherUser = await tokenOf('otherUser@example.com')
  const recovery = await api.post('/api/agents/recover', { agent_name: agent.name }, { bearer: otherUser })
  expect(recovery.status).toBe(404)
  const { api_key } = registered.body.data
  expect((await api.post('/api/agents/link', { api_key }, { bearer: otherUser })).status).toBe(409)
})
