import { anchorText } from '@market/solvency'
import { expect, test } from 'vitest'
import {
  RICH,
  SOLANA_TREASURY,
  TREASURY,
  useLyingServer,
  VAULT,
  VENUE_WALLET,
  verify,
} from './test-lying-server.ts'

const api = useLyingServer()
const { rpc, both } = api
const SOLANA = ['--treasury', `solana-mainnet=${SOLANA_TREASURY}`]
const NAMED = ['--treasury', `base-mainnet=${TREASURY}`, ...SOLANA]
const careful = (...args: string[]) => verify(api.url, [...both(), ...NAMED, ...args])

test('is proven when both treasuries are named', async () => {
  const { status, out } = await careful()
  expect(out).toMatch(/^ok +anchor .*signed by the treasury 8kQw/m)
  expect(out).toMatch(/^ok +signature .* base-mainnet +signed by the treasury 0x/m)
  expect(out).toMatch(/^ok +leaf escrow:a +10\.00 owed to 0xabc is included, anchored/m)
  expect(out).toMatch(
    /^ok +treasury base-mainnet +holds 10\.00, owes 10\.00 as the API says, owed 10\.00 on /m,
  )
  expect(out).toMatch(/^Proven: /m)
  expect(status).toBe(0)
})

test('is proven when --treasury has another case of an EVM address', async () => {
  const lower = ['--treasury', `base-mainnet=${TREASURY.toLowerCase()}`, ...SOLANA]
  expect(await verify(api.url, [...both(), ...lower])).toMatchObject({ status: 0 })
})

test('is proven without --treasury of an EVM network when that treasury signed the anchor', async () => {
  const { status, out } = await verify(api.url, [...both(), ...SOLANA])
  expect(out).toMatch(/^ok +treasury base-mainnet .*; treasury 0x\w+, which signed the anchor$/m)
  expect(status).toBe(0)
})

test('is proven when an older day has no signature', async () => {
  const [newest] = api.world.anchors
  const day = api.lies.dayIn(-1)
  api.world.anchors.push({ ...newest, day, text: anchorText({ ...newest, day }), signatures: [] })
  expect(await careful()).toMatchObject({ status: 0 })
})

test('is proven when another wallet sends a memo in a transaction that names the treasury', async () => {
  api.lies.memo(api.lies.textIn(0), { signer: RICH })
  expect(await careful()).toMatchObject({ status: 0 })
})

test('is proven while the text of the next day is on the chain and not yet final in the API', async () => {
  api.lies.memo(api.lies.textIn(1))
  api.lies.pending(1, api.lies.textIn(1))
  expect(await careful()).toMatchObject({ status: 0 })
})

test('is proven with a cold address and venues when they are named', async () => {
  api.lies.owes('60.00')
  api.lies.coldAt(RICH)
  api.lies.venuesHold('30.00')
  Object.assign(api.world.usdc, { [RICH]: 20_000_000n, [VENUE_WALLET]: 5_000_000n })
  api.world.vaultValue = 25_000_000n
  const venue = ['--venue', `base-mainnet=${VENUE_WALLET}:${VAULT}`]
  const { status, out } = await careful('--cold', `base-mainnet=${RICH}`, ...venue)
  expect(out).toMatch(
    /holds 10\.00, 20\.00 at the cold address 0xe1\w+, 30\.00 on its way to venues, owes 60\.00/,
  )
  expect(status).toBe(0)
})

test('is proven when the named treasury is enough without the assets that are not named', async () => {
  api.lies.coldAt(RICH)
  api.lies.venuesHold('50.00')
  api.lies.inFlight(api.lies.payout)
  expect(await careful()).toMatchObject({ status: 0 })
})

test('is proven without an account when --owed says that nothing is owed', async () => {
  const { status, out } = await verify(api.url, [...both(), ...NAMED], false)
  expect(out).toMatch(/^skipped +leaves .*no credential, --wallet-file or --proof/m)
  expect(status).toBe(3)
  expect(await verify(api.url, [...both(), ...NAMED, '--owed', '0.00'], false)).toMatchObject({
    status: 0,
  })
})

test('fails for a leaf that is not anchored, and is proven with --no-anchor', async () => {
  const [{ root }] = api.world.proofs
  api.world.solvency[0].proof = { snapshot_id: 'rsv_b', root, leaves: 1, liabilities_usd: '10.00' }
  api.world.anchors[0].anchored = null
  expect((await careful()).out).toMatch(/FAILED +leaf .*published, but not anchored/)
  const { status, out } = await careful('--no-anchor')
  expect(out).toMatch(/^Proven: .* Without an anchor, the API can show other roots to other users\.$/m)
  expect(status).toBe(0)
})

test('--json prints one document with the verdict and the next command', async () => {
  const proven = JSON.parse((await careful('--json')).out)
  expect(proven).toMatchObject({ ok: true, verdict: 'proven', checks: [{ result: 'ok' }, {}, {}, {}, {}] })
  expect(proven).not.toHaveProperty('next')
  const { out } = await verify(api.url, [...rpc('base-mainnet'), ...NAMED, '--json'])
  expect(JSON.parse(out)).toMatchObject({
    ok: false,
    verdict: 'not_proven',
    checks: [{ result: 'skipped', next: '--rpc solana-mainnet=https://…' }, {}, {}, {}, {}],
    next: 'market solvency verify <your options> --rpc solana-mainnet=https://…',
  })
})

test.each([
  [['--venue', `base-mainnet=${TREASURY}`], /Write --venue base-mainnet=<wallet>:<vault>/],
  [['--venue', `solana-mainnet=${TREASURY}:${VAULT}`], /Write --venue base-mainnet=<wallet>:<vault>/],
  [['--owed', 'five'], /--owed is five/],
  [['--treasury', `base-mainnet=${RICH}`], /--treasury names a network twice/],
])('%j ends with 2', async (args, sentence) => {
  const { status, out } = await careful(...args)
  expect(out).toMatch(sentence)
  expect(status).toBe(2)
})
