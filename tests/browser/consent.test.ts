import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type OAuthWorld, registerProgram, startOAuthWorld } from '../mcp/oauth-world.ts'
import { makeUser } from '../support/makers.ts'

/** The pages of OAuth in a real browser. Screenshots of the run are in .cache/screenshots. */

const SCREENSHOTS = '.cache/screenshots'
const SIZES = { phone: { width: 360, height: 740 }, desktop: { width: 1_280, height: 800 } } as const

let world: OAuthWorld
let browser: Browser
let page: Page
let sub: string
let callback: string
const dialogs: string[] = []
const errors: string[] = []

const receiver = createServer((_request, response) => void response.end('<title>Received</title>'))

beforeAll(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  callback = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/callback`
  world = await startOAuthWorld()
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
})
afterAll(async () => {
  await browser.close()
  await world.stop()
  receiver.close()
  receiver.closeAllConnections()
})

beforeEach(async () => {
  dialogs.length = 0
  errors.length = 0
  ;({ sub } = await makeUser(world.market))
  const context = await browser.newContext({ viewport: SIZES.desktop, javaScriptEnabled: false })
  // A busy machine makes pages slower, and must not make the test fail.
  context.setDefaultTimeout(150_000)
  page = await context.newPage()
  page.on('dialog', (dialog) => dialogs.push(dialog.message()))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.location().url.endsWith('/favicon.ico'))
      errors.push(message.text())
  })
})
afterEach(async () => {
  await page.context().close()
  expect([dialogs, errors]).toEqual([[], []])
})

const newProgram = (fields: Record<string, unknown> = {}) =>
  registerProgram(world.url, { redirect_uris: [callback], ...fields })

async function openConsent(fields: Record<string, unknown> = {}) {
  const program = await newProgram(fields)
  await page.goto(program.authorizeUrl({ redirect_uri: callback }).href)
  await page.click(`button[value="${sub}"]`)
  await page.waitForSelector('main form')
  return program
}

const shot = async (name: string) => {
  for (const [size, viewport] of Object.entries(SIZES))
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${SCREENSHOTS}/${name}-${size}-${colorScheme}.png`, fullPage: true })
      const width = await page.locator('html').evaluate((element) => element.scrollWidth)
      expect(width).toBeLessThanOrEqual(viewport.width)
    }
}

const received = async () => {
  await page.waitForURL(`${callback}**`)
  return new URL(page.url()).searchParams
}

test('allowed: the program receives a code that works', async () => {
  const program = await openConsent()
  await shot('consent')
  await page.click('button:has-text("Allow")')
  const code = (await received()).get('code') ?? ''
  const { status } = await program.redeem(code, { redirect_uri: callback })
  expect(status).toBe(200)
})

test('allowed for an agent, by keyboard only', async () => {
  const token = await world.market.idp.token({ sub, username: sub })
  const made = await world.market
    .client()
    .post(
      '/api/agents/register',
      { name: `Typed ${sub}`, description: 'Chosen by keyboard.' },
      { bearer: token },
    )
  await openConsent()
  const focused = () => page.locator(':focus').evaluate((element) => element.outerHTML)
  await page.keyboard.press('Tab')
  expect(await focused()).toContain('Use another account')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowDown')
  expect(await focused()).toContain(made.body.data.agent_id)
  await page.keyboard.press('Tab')
  expect(await focused()).toContain('Allow')
  await page.keyboard.press('Enter')
  expect((await received()).get('code')).toBeTruthy()
  const [grant] = await world.market.db
    .selectFrom('oauth_grants')
    .selectAll()
    .where('idp_user_id', '=', sub)
    .execute()
  expect(grant?.agent_id).toBe(made.body.data.agent_id)
})

test('cancelled', async () => {
  await openConsent()
  await page.click('button:has-text("Cancel")')
  expect((await received()).get('error')).toBe('access_denied')
})

test('wrong user: another account can be used', async () => {
  const { sub: other } = await makeUser(world.market)
  const program = await openConsent()
  await page.click('text=Use another account')
  await page.click(`button[value="${other}"]`)
  await page.click('button:has-text("Allow")')
  const code = (await received()).get('code') ?? ''
  expect((await program.redeem(code, { redirect_uri: callback })).status).toBe(200)
  const grants = world.market.db.selectFrom('oauth_grants').select('idp_user_id')
  expect(await grants.where('idp_user_id', 'in', [sub, other]).execute()).toEqual([{ idp_user_id: other }])
})

test('expired: the page says what to do', async () => {
  await openConsent()
  await world.market.db
    .updateTable('oauth_records')
    .set({ expires_at: new Date(0) })
    .where('model', '=', 'Interaction')
    .execute()
  await page.click('button:has-text("Allow")')
  await page.waitForSelector('text=connect again')
  expect(errors.splice(0)).toEqual([expect.stringContaining('400')])
  await shot('ended')
})

test('double submit: one connection, and the program receives one code', async () => {
  await openConsent()
  await page.dblclick('button:has-text("Allow")')
  await received()
  const grants = world.market.db.selectFrom('oauth_grants').select('id').where('idp_user_id', '=', sub)
  expect(await grants.execute()).toHaveLength(1)
})

test('a hostile name and a long redirect stay text on the page', async () => {
  const client_name = `<img src=x onerror=alert(1)><script>alert(2)</script>${'W'.repeat(300)}`
  await openConsent({ client_name })
  expect(await page.locator('main img, script').count()).toBe(0)
  expect(await page.locator('h1').textContent()).toContain('<img src=x onerror=alert(1)>')
  await shot('hostile')
})

test('connections: seen and ended', async () => {
  await openConsent({ client_name: 'Calendar' })
  await page.click('button:has-text("Allow")')
  await received()
  // The sign-in for the consent is the session of the browser.
  await page.goto(`${world.url}/oauth/connections`)
  await page.waitForSelector('h2:has-text("Calendar")')
  await shot('connections')
  await page.click('text=End the connection of Calendar')
  await page.waitForSelector('text=No program is connected')
  await shot('no-connections')
})
