import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ADMIN_CLIENT_ID, ADMIN_ROLE } from '@market/testing/idp'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { confirmLogin } from '../support/browser-login.ts'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'
import { type Market, startMarket } from '../support/market.ts'
import { approveAs, loginBefore, proposeAs, secondOperatorToken } from '../support/operator.ts'
import { ADMIN_KEY, ADMIN_USER, SECOND_ADMIN_USER } from '../support/settings.ts'
import { auditOf, makeFailed } from '../support/treasury.ts'

const MAIN = fileURLToPath(new URL('../../packages/admin/src/main.ts', import.meta.url))
const CHECKSUMMED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

let market: Market
beforeAll(async () => {
  market = await startMarket()
  for (const sub of [ADMIN_USER, SECOND_ADMIN_USER]) market.idp.setPerson({ sub, roles: [ADMIN_ROLE] })
  market.idp.setPerson({ sub: 'somebody' })
})
afterAll(() => market.stop())

/** The settings folder of one operator. */
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'admin-program-'))
  return () => rmSync(folder, { recursive: true, force: true })
})
const tokenFile = () => join(folder, 'agent-market', 'admin.json')

interface Result {
  readonly status: number
  readonly out: string
  readonly error: string
}

/** Runs the program; `onOutput` sees everything that it has printed so far. */
async function admin(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  onOutput: (out: string) => void = () => {},
): Promise<Result> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...CHILD_ENVIRONMENT,
      XDG_CONFIG_HOME: folder,
      MARKET_API_URL: market.url,
      IDP_ISSUER: market.idp.issuer,
      IDP_AUDIENCE: market.idp.audience,
      ADMIN_CLIENT_ID,
      ...environment,
    },
  })
  let [out, error] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += chunk
    onOutput(out)
  })
  child.stderr.on('data', (chunk) => {
    error += chunk
  })
  const [status] = (await once(child, 'close')) as [number]
  return { status, out, error }
}

/** Logs in while a browser confirms the page that the program prints. */
async function login(userId: string): Promise<Result> {
  let confirmed: Promise<void> | undefined
  const result = await admin(['login'], {}, (out) => {
    const [, url] = /^Open (\S+)\n.*Waiting/s.exec(out) ?? []
    if (url !== undefined) confirmed ??= confirmLogin(url, userId)
  })
  await confirmed
  return result
}

/** As after a login at another time. */
function storeToken(access_token: string, expires_at: string): void {
  mkdirSync(dirname(tokenFile()), { recursive: true })
  writeFileSync(tokenFile(), JSON.stringify({ api_url: market.url, access_token, expires_at }), {
    mode: 0o600,
  })
}

const LATER = '2999-01-01T00:00:00.000Z'

test('an operator logs in with a code, reads the overview, freezes payouts by one command and unfreezes them', async () => {
  const done = await login(ADMIN_USER)
  expect(done).toMatchObject({ status: 0, error: '' })
  expect(done.out).toMatch(/confirm the code \S+\. Waiting …\nLogged in to /)
  expect(statSync(tokenFile()).mode & 0o777).toBe(0o600)

  expect(await admin(['overview'])).toMatchObject({
    status: 0,
    error: '',
    out: expect.stringContaining('disputes'),
  })
  const reason = 'payouts to an unknown wallet'
  expect(await admin(['freeze', 'payouts', '--reason', reason])).toEqual({
    status: 0,
    error: '',
    out: `freeze_payouts is on, changed by user:${ADMIN_USER}: ${reason}\n`,
  })
  const whileFrozen = JSON.parse((await admin(['overview', '--json'])).out)
  expect(whileFrozen.waiting).toContain('switches')
  expect(whileFrozen.switches.on).toMatchObject([
    { name: 'freeze_payouts', changed_by: `user:${ADMIN_USER}`, reason },
  ])
  expect((await admin(['overview'])).out).toMatch(/^! {2}switches +1\n.*freeze_payouts.*unknown wallet$/m)

  expect(await admin(['unfreeze', 'payouts', '--reason', 'it was ours'])).toMatchObject({ status: 0 })
  expect(await auditOf(market.db, 'freeze_payouts')).toEqual([
    { act: 'switch.on', actor: `user:${ADMIN_USER}`, details: { reason } },
    { act: 'switch.off', actor: `user:${ADMIN_USER}`, details: { reason: 'it was ours' } },
  ])
})

test('two operators decide: `call` proposes, `approvals` lists, `reject` and `approve` decide', async () => {
  await login(SECOND_ADMIN_USER)
  const { id } = await makeFailed(market.db)
  const payload = { payout_id: id, payee: CHECKSUMMED }
  const proposed = await proposeAs(market, 'redirect_payout', payload)
  const approvalId = String(proposed.body.data.id)
  expect((await admin(['approvals'])).out).toContain(approvalId)
  expect(await admin(['approve', approvalId])).toMatchObject({
    status: 0,
    out: expect.stringContaining('is approved'),
  })

  const other = await makeFailed(market.db)
  const fields = [
    `payload=${JSON.stringify({ ...payload, payout_id: other.id })}`,
    'reason=the wallet is lost',
  ]
  const called = await admin(['call', 'createApproval', 'kind=redirect_payout', ...fields])
  expect(called).toMatchObject({ status: 0, error: '' })
  const own = JSON.parse(called.out).data
  expect(own.proposer).toBe(`user:${SECOND_ADMIN_USER}`)
  const alone = await approveAs(market, own.id, await secondOperatorToken(market))
  expect(alone.status).toBe(403)
  expect(await admin(['approve', own.id])).toMatchObject({
    status: 1,
    error: expect.stringContaining('Ask another operator'),
  })
  expect(await admin(['reject', own.id, '--reason', 'not needed'])).toMatchObject({
    status: 0,
    out: expect.stringContaining('is rejected'),
  })
})

test('a user without the admin claim can log in, and is rejected with what to do', async () => {
  expect(await login('somebody')).toMatchObject({ status: 0 })
  for (const args of [['overview'], ['freeze', 'payouts', '--reason', 'let me in']]) {
    const { status, out, error } = await admin(args)
    expect({ status, out }).toEqual({ status: 1, out: '' })
    expect(error).toContain('wrong_credential')
    expect(error).toContain('ADMIN_USER_IDS')
  }
})

test('a login that is too old for writes, or has expired, says to log in again', async () => {
  storeToken(loginBefore(market, 960), LATER)
  expect(await admin(['overview'])).toMatchObject({ status: 0 })
  const old = await admin(['freeze', 'payouts', '--reason', 'an old login'])
  expect(old).toMatchObject({ status: 1, out: '' })
  expect(old.error).toMatch(/login_too_old.*Log in again: npm run admin -- login/s)

  storeToken(loginBefore(market, 0), '2020-01-01T00:00:00.000Z')
  const expired = await admin(['freeze', 'payouts', '--reason', 'an expired login'])
  expect(expired).toMatchObject({ status: 1, out: '' })
  expect(expired.error).toMatch(/expired.*Log in again: npm run admin -- login/s)
})

test('an admin key reads without a login and cannot write', async () => {
  const environment = { ADMIN_KEY }
  expect(await admin(['overview'], environment)).toMatchObject({ status: 0, error: '' })
  expect(await admin(['call', 'listPayouts', 'limit=5'], environment)).toMatchObject({ status: 0 })
  const write = await admin(['freeze', 'payouts', '--reason', 'by a key'], environment)
  expect(write).toMatchObject({ status: 1, out: '' })
  expect(write.error).toMatch(/not logged in/)
  expect((await admin(['overview'])).error).toMatch(/not logged in/)
})

test('wrong arguments and settings end with 2, a login is never sent to another API', async () => {
  expect(await admin(['freeze', 'payouts'])).toMatchObject({
    status: 2,
    error: expect.stringContaining('--reason'),
  })
  expect(await admin(['overview'], { MARKET_API_URL: '' })).toMatchObject({ status: 2 })
  expect(await admin(['call', 'registerAgent'])).toMatchObject({ status: 2 })
  expect(await admin(['call', 'turnSwitch', 'name=read_only', 'on=maybe', 'reason=test'])).toMatchObject({
    status: 1,
    error: expect.stringMatching(/^on must be a boolean/),
  })
  expect(await admin(['--help'])).toMatchObject({ status: 0, out: expect.stringContaining('freeze payouts') })
  expect((await admin(['call'])).out).toContain('call resolveDispute order_id=… outcome=…')

  storeToken(loginBefore(market, 0), LATER)
  const elsewhere = await admin(['overview'], { MARKET_API_URL: 'http://127.0.0.1:9' })
  expect(elsewhere).toMatchObject({ status: 1, error: expect.stringContaining(`logged in to ${market.url}`) })
})
