import { rootBy } from '@market/solvency'
import { describe, expect, test } from 'vitest'
import {
  AGENT_WALLET,
  publish,
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
const BASE = ['--treasury', `base-mainnet=${TREASURY}`]
const SOLANA = ['--treasury', `solana-mainnet=${SOLANA_TREASURY}`]
const COLD = ['--cold', `base-mainnet=${RICH}`]
const VENUE = ['--venue', `base-mainnet=${VENUE_WALLET}:${VAULT}`]
/** With both nodes, and both treasuries named. */
const careful = (...args: string[]) => verify(api.url, [...both(), ...BASE, ...SOLANA, ...args])
const linesOf = (out: string, ...results: string[]) =>
  out.split('\n').filter((line) => results.some((result) => line.startsWith(result)))

type Lie = [name: string, lie: () => unknown, reason: RegExp, args?: readonly string[]]

const TREASURY_LIES: readonly Lie[] = [
  ['the treasury holds less than is owed', () => api.lies.owes('10.01'), /0\.01 is missing/],
  ['an amount is negative', () => api.lies.owes('-5.00'), /-5\.00 is not an amount/],
  [
    'the treasury is not --treasury',
    () => Object.assign(api.world.solvency[0], { treasury: RICH }),
    /API says 0xe1/,
  ],
  ['the cold address is the treasury', () => api.lies.coldAt(TREASURY.toLowerCase()), /counted twice/],
  [
    'the cold address is padded',
    () => api.lies.coldAt(`0x${'0'.repeat(24)}${TREASURY.slice(2)}`),
    /not an address/,
  ],
  [
    'the cold address is not --cold',
    () => api.lies.coldAt(`0x${'f5'.repeat(20)}`),
    /address is 0xf5.*--cold/,
    COLD,
  ],
  ['no cold address is listed, but named', () => {}, /the cold address is none/, COLD],
  [
    'a payout is listed twice',
    () => api.lies.inFlight(api.lies.payout, api.lies.payout.replace(/cd/g, 'CD')),
    /listed twice/,
  ],
  [
    'a payout and what it replaces both count',
    () => {
      api.lies.owes('14.00')
      api.lies.inFlight(api.lies.payout).in_flight[0].replaces = [`0x${'ef'.repeat(32)}`]
    },
    /sent 2\.00 in flight.*2\.00 is missing/,
  ],
  [
    'a network of the anchor is left out',
    () => api.world.solvency.shift(),
    /base-mainnet +the API does not list/,
  ],
  [
    'a network is listed twice',
    () => api.world.solvency.push(api.world.solvency[0]),
    /lists this network twice/,
  ],
]

const LEAF_LIES: readonly Lie[] = [
  [
    'a leaf is of another snapshot',
    () => Object.assign(api.world.proofs[0], { snapshot_id: 'rsv_o' }),
    /snapshot rsv_o/,
  ],
  [
    'a leaf is listed twice',
    () => api.world.proofs.push({ ...api.world.proofs[0] }),
    /lists this leaf twice/,
  ],
  ['a leaf belongs to another holder', () => {}, /it belongs to 0xabc/, ['--holder', '0xdef']],
  [
    'the leaves are less than --owed',
    () => {},
    /10\.00 in the leaves.*2\.00 is missing/,
    ['--owed', '12.00'],
  ],
  [
    'no leaf is listed, and --owed is more',
    () => api.world.proofs.pop(),
    /10\.00 is missing/,
    ['--owed', '10.00'],
  ],
]

const ANCHOR_LIES: readonly Lie[] = [
  ['no day is anchored', () => api.world.anchors.pop(), /no day is anchored/],
  [
    'a day is listed twice',
    () => api.world.anchors.push({ ...api.world.anchors[0] }),
    /lists this day twice/,
  ],
  ['another account signed the anchor', () => publish(api.world, { signer: RICH }), /not by the treasury/],
  [
    'the treasury signed two texts of a day',
    () => api.lies.memo(api.lies.textIn(0)),
    /published another text of that day/,
  ],
  [
    'a second text cannot be excluded',
    () => Object.assign(api.world, { isBusy: true }),
    /another text .* may exist/,
  ],
  [
    'the newest anchor is not listed',
    () => api.lies.memo(api.lies.textIn(1)),
    /a text of .* that the API does not list/,
  ],
  [
    'the newest anchor is said to be pending an hour after it is on the chain',
    () => {
      api.lies.memo(api.lies.textIn(1), { secondsAgo: 3_600 })
      api.lies.pending(1, api.lies.textIn(1))
    },
    /the API says that it is not anchored/,
  ],
  ['the newest anchor is old', () => api.lies.anchorOf(-10, 0), /the newest anchor is of/],
  ['an old anchor has a day in the future', () => api.lies.anchorOf(365, 10), /published at .* too long ago/],
]

describe('fails with 1', () => {
  test.each([...TREASURY_LIES, ...LEAF_LIES, ...ANCHOR_LIES])(
    'when %s',
    async (_, lie, reason, args = []) => {
      lie()
      const { status, out } = await careful(...args)
      expect(linesOf(out, 'FAILED')).toContainEqual(expect.stringMatching(reason))
      expect(out).toMatch(/^Failed: \d of \d checks\.$/m)
      expect(status).toBe(1)
    },
  )

  test('when the wallet of --venue is the treasury', async () => {
    const { status, out } = await careful('--venue', `base-mainnet=${TREASURY}:${VAULT}`)
    expect(out).toMatch(/FAILED.*counted twice/)
    expect(status).toBe(1)
  })

  test('when a vault is not one of USDC', async () => {
    api.world.vaultAsset = RICH
    const { status, out } = await careful(...VENUE)
    expect(out).toMatch(/The vault 0xd4\w+ is not one of USDC/)
    expect(status).toBe(1)
  })
})

const UNPROVEN: readonly Lie[] = [
  [
    'venues are invented',
    () => {
      api.lies.owes('60.00')
      api.lies.venuesHold('50.00')
    },
    /50\.00 on its way to venues as the API says, owes 60\.00.* 10\.00 is proven: only the API says that 50\.00 is on its way to venues/,
  ],
  [
    'a vault holds less than the API says',
    () => {
      api.lies.owes('60.00')
      api.lies.venuesHold('50.00')
      api.world.vaultValue = 20_000_000n
    },
    /20\.00 on its way to venues, 30\.00 more on its way to venues as the API says.* 30\.00 is proven/,
    VENUE,
  ],
  [
    'the cold address is of another party',
    () => {
      api.lies.owes('500.00')
      api.lies.coldAt(RICH)
    },
    /1000\.00 at the cold address 0xe1.*owes 500\.00.* 10\.00 is proven: only the API says that 0xe1/,
  ],
  [
    'stolen money is listed as a payout in flight',
    () => {
      api.lies.owes('12.00')
      api.lies.inFlight(api.lies.payout)
    },
    /sent 2\.00 in flight.* 10\.00 is proven: 2\.00 left the treasury in the last hour/,
  ],
  [
    'less is owed than in the anchor',
    () => {
      const [entry] = api.world.anchors[0].networks
      const [proof] = api.world.proofs
      proof.path = [{ side: 'right', hash: '0'.repeat(64), sum: '15000000' }]
      Object.assign(entry, { root: rootBy(proof)?.hash, total_micros: '25000000' })
      publish(api.world)
    },
    /owes 10\.00 as the API says, owed 25\.00 on .* 15\.00 of the anchored total was paid out since, or is missing/,
  ],
  [
    'a network is not part of the anchor',
    () => {
      api.world.anchors[0].networks.shift()
      publish(api.world)
    },
    /base-mainnet is not part of the anchor/,
  ],
  [
    'leaves are left out',
    () => Object.assign(api.world, { omitted: 3 }),
    /the API left out 3 smaller leaves/,
  ],
  ['no leaf is listed', () => api.world.proofs.pop(), /the API says that nothing is owed to you/],
  [
    'the server wallet of an agent is empty',
    () => {
      const account = `wallet:solana-mainnet:${AGENT_WALLET}`
      const leaf = { account, holder: 'agt_1', amount_usd: '7.00', micros: '7000000', salt: 'cd' }
      const root = rootBy({ leaf, path: [] })?.hash
      const [, entry] = api.world.anchors[0].networks
      const wallets = { root, total_usd: '7.00', total_micros: '7000000' }
      api.world.anchors[0].networks = [{ ...entry, snapshot_id: 'rsv_w', agent_wallets: wallets }]
      api.world.proofs = [{ ...api.world.proofs[0], network: 'solana-mainnet', snapshot_id: 'rsv_w', leaf }]
      publish(api.world)
    },
    /the wallet holds 0\.00 now: the rest was sent since, or is missing/,
  ],
]

describe('is not proven and ends with 3', () => {
  test.each(UNPROVEN)('when %s', async (_, lie, reason, args = []) => {
    lie()
    const { status, out } = await careful(...args)
    expect(linesOf(out, 'warning', 'skipped')).toContainEqual(expect.stringMatching(reason))
    expect(out).toMatch(/^Not proven: \d of \d checks\. No check failed\.$/m)
    expect(status).toBe(3)
  })

  test.each<[string, () => string[], RegExp, string]>([
    [
      'Solana has no --rpc',
      () => [...rpc('base-mainnet'), ...SOLANA, ...BASE],
      /^skipped +anchor/m,
      '--rpc solana-mainnet=https://…',
    ],
    [
      'Base has no --rpc',
      () => [...rpc('solana-mainnet'), ...SOLANA, ...BASE],
      /^skipped +treasury base/m,
      '--rpc base-mainnet=https://…',
    ],
    [
      'the treasury of Base is of another party',
      () => {
        Object.assign(api.lies.owes('900.00'), { treasury: RICH })
        Object.assign(api.world.anchors[0], { signatures: [] })
        return [...both(), ...SOLANA]
      },
      /^warning +treasury base-mainnet +holds 1000\.00.* 0\.00 is proven: only the API says that 0xe1/m,
      '--treasury base-mainnet=<address>',
    ],
    [
      'another marketplace shows these roots and signatures, and owes nothing in them',
      () => {
        api.world.proofs.pop()
        return [...both(), ...SOLANA, '--owed', '0.00']
      },
      /^warning +treasury base-mainnet .* 0\.00 is proven: only the API says that 0x/m,
      '--treasury base-mainnet=<address>',
    ],
    [
      'every user gets the anchor of another account',
      () => {
        publish(api.world, { signer: 'otherAccount' })
        api.world.solvency[1].treasury = 'otherAccount'
        return [...both(), ...BASE]
      },
      /^warning +anchor .*signed by otherAccount\. Only the API says that it is the treasury/m,
      '--treasury solana-mainnet=<address>',
    ],
  ])('when %s, and names the missing option', async (_, options, reason, missing) => {
    const { status, out } = await verify(api.url, options())
    expect(out).toMatch(reason)
    expect(out).toContain(`next  market solvency verify <your options> ${missing}`)
    expect(status).toBe(3)
  })
})
