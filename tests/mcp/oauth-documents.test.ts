import { tools } from '@market/contract/tools'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeUser } from '../support/makers.ts'
import { PUBLIC_ADDRESS } from '../support/settings.ts'
import { startReceiver, status, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { FetchBrowser } from './fetch-browser.ts'
import {
  CALLBACK,
  connectByOAuth,
  type OAuthWorld,
  registerProgram,
  StoredAuthorization,
  startOAuthWorld,
} from './oauth-world.ts'

/** Programs that are known by the address of their metadata document, and not by a registration. */

let receiver: WebhookReceiver
let world: OAuthWorld
beforeAll(async () => {
  receiver = await startReceiver()
  world = await startOAuthWorld(receiver.settings)
})
afterAll(async () => {
  await world.stop()
  await receiver.stop()
})

/** Publishes a document at a host of its own and returns its address. */
function publish(name: string, fields: Record<string, unknown> = {}, address = PUBLIC_ADDRESS): string {
  const host = `${name}.hooks.example`
  const client_id = `https://${host}/client.json`
  const document = { client_id, client_name: name, redirect_uris: [CALLBACK], ...fields }
  world.market.dns.answers.set(host, [address])
  receiver.answers.set(host, (response) => void response.end(JSON.stringify(document)))
  return client_id
}

async function authorize(client_id: string) {
  const program = await registerProgram(world.url)
  return new FetchBrowser().open(program.authorizeUrl({ client_id }), {}, CALLBACK)
}

test('client 2: connects without registering', async () => {
  const { sub } = await makeUser(world.market)
  const documentUrl = publish('program')
  const stored = new StoredAuthorization(documentUrl)
  const { client } = await connectByOAuth(world, { sub }, { mode: 'auto', stored })
  expect((await client.listTools()).tools).toHaveLength(tools.length)
  expect(decodeJwt(stored.saved?.access_token ?? '')['client_id']).toBe(documentUrl)
  const registered = world.market.db.selectFrom('oauth_records').select('id').where('model', '=', 'Client')
  expect(await registered.execute()).toEqual([])
  await client.close()
})

test.each([
  ['of another address', { client_id: 'https://other.hooks.example/client.json' }],
  ['with a secret', { client_secret: 'secret' }],
  ['with another redirect', { redirect_uris: ['https://other.example/callback'] }],
] as const)('a document %s is rejected', async (what, fields) => {
  const page = await authorize(publish(what.replaceAll(' ', '-'), fields))
  expect([page.status, page.url.origin]).toEqual([400, world.url])
})

test('a document at a private address is not fetched, and a redirect is not followed (asvs V5.1)', async () => {
  const inside = await authorize(publish('inside', {}, '10.0.0.1'))
  expect(inside.status).toBe(400)
  expect(receiver.callsTo('inside.hooks.example')).toEqual([])
  const moved = publish('moved')
  receiver.answers.set(
    'moved.hooks.example',
    status(302, { location: 'https://program.hooks.example/client.json' }),
  )
  expect((await authorize(moved)).status).toBe(400)
})
